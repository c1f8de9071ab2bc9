// The worker under attack: trains on nothing, numbers everything it says and counts it.
//
//   chaos-worker BOOK [--life N] [--silent]
//
// A numbered line and a heartbeat a step, a checkpoint every 20 steps, and a helper in a session of
// its own. SIGTERM: saves and exits with 75. SIGRTMIN: 20,000 numbered lines at once. --life: ends
// after so many steps of an attempt, each attempt in another way. --silent: says nothing but its
// lines, as a program does that knows nothing of Trainward.
//
// Beside another copy of itself it appends a line to BOOK/second-copies.

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "checkpoint/checkpoint.hpp"
#include "common/protocol/protocol.hpp"
#include "counts.hpp"

namespace {

using namespace trainward;

constexpr std::int64_t save_every = 20;
constexpr int step_ms = 25;
constexpr std::int64_t burst_lines = 20'000;

volatile std::sig_atomic_t stop_asked = 0;
volatile std::sig_atomic_t burst_asked = 0;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Worker {
 public:
  Worker(std::string book, std::int64_t life, bool silent)
      : book_(std::move(book)),
        life_(life),
        silent_(silent),
        attempt_(std::atol(variable(env::attempt).c_str())) {}

  int run() {
    claim();
    leave_helper();
    const std::string file = chaos::counts_file(book_, variable(env::run), attempt_);
    counts_ = chaos::make_counts(file);
    if (counts_ == nullptr) return exit_code::failed;
    connect();
    if (!resume()) return end_with(exit_code::failed);
    say("RESUMED_STEP=" + std::to_string(step_) + "\nPHASE=train");
    for (std::int64_t done = 0; stop_asked == 0; ++done) {
      if (life_ > 0 && done >= life_) return end_of_life();
      ::poll(nullptr, 0, step_ms);
      if (burst_asked != 0) burst();
      print_line();
      if (!say("STEP=" + std::to_string(step_ + 1) + "\nLOSS=1.5\nTOKENS=8")) continue;
      ++step_;
      if (!silent_) counts_->step = step_;
      if (step_ % save_every == 0) save();
    }
    save();
    return end_with(exit_code::try_again);
  }

 private:
  void claim() {
    lock_ = Fd(::open((book_ + "/" + variable(env::run) + ".lock").c_str(),
                      O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
    const Fd note(::open((book_ + "/second-copies").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
    (void)write_all(note.get(), variable(env::run) + " attempt " + variable(env::attempt) + "\n",
                    book_);
  }

  void leave_helper() {
    if (::fork() != 0) return;
    ::setsid();
    ::prctl(PR_SET_NAME, "chaos-helper");
    ::signal(SIGTERM, SIG_IGN);
    lock_.reset();
    for (;;) ::poll(nullptr, 0, -1);
  }

  void connect() {
    socket_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = variable(env::socket);
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    (void)::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  }

  // Waits for a shim that stands still; false when asked to stop meanwhile, or it is gone.
  bool say(const std::string& text) {
    if (silent_) return true;
    while (::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) {
      if (errno != EINTR || stop_asked != 0) return false;
    }
    return true;
  }

  bool resume() {
    const std::string from = variable(env::resume_from);
    if (from.empty()) return true;
    auto loaded = checkpoint::load(from);
    if (loaded) step_ = loaded->state().step;
    return loaded.has_value();
  }

  // One write: a pipe takes a short line whole or not at all.
  void print_line() {
    std::array<char, 64> line{};
    const int length = std::snprintf(line.data(), line.size(), "line %09lld\n",
                                     static_cast<long long>(counts_->lines.load()));
    while (::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(length)) < 0) {
      if (errno != EINTR) return;
    }
    ++counts_->lines;
  }

  void burst() {
    burst_asked = 0;
    for (std::int64_t i = 0; i < burst_lines && stop_asked == 0; ++i) print_line();
  }

  // A disk that is full costs this checkpoint; the next one is tried all the same.
  void save() {
    if (silent_) return;
    say("PHASE=save");
    std::array<float, 8> weights{};
    weights.fill(static_cast<float>(step_));
    checkpoint::Contents contents;
    contents.state.step = step_;
    contents.model = {{{"weight", checkpoint::DType::f32, {8}}, std::as_bytes(std::span(weights))}};
    if (auto folder = checkpoint::save(variable(env::checkpoint_dir), contents)) {
      say("CHECKPOINT=" + folder->string() + "\nCHECKPOINT_STEP=" + std::to_string(step_));
    }
    say("PHASE=train");
  }

  int end_of_life() {
    constexpr std::array codes{exit_code::done, exit_code::failed, exit_code::try_again, 7};
    save();
    const auto choice = static_cast<std::size_t>(attempt_) % (codes.size() + 1);
    if (choice == codes.size()) {
      const rlimit none{0, 0};
      ::setrlimit(RLIMIT_CORE, &none);
      ::raise(SIGSEGV);
    }
    return end_with(codes.at(choice));
  }

  int end_with(int code) {
    counts_->exits_with = code + 1;
    return code;
  }

  std::string book_;
  std::int64_t life_;
  bool silent_;
  std::int64_t attempt_;
  chaos::LiveCounts* counts_ = nullptr;
  Fd lock_;
  Fd socket_;
  std::int64_t step_ = 0;
};

void on_signal(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // without SA_RESTART: a wait is to end
  ::sigaction(number, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  on_signal(SIGTERM, [](int) { stop_asked = 1; });
  on_signal(SIGRTMIN, [](int) { burst_asked = 1; });
  std::int64_t life = 0;
  bool silent = false;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--silent") == 0) silent = true;
    if (std::strcmp(argv[i], "--life") == 0 && i + 1 < argc) life = std::atol(argv[++i]);
  }
  if (argc < 2) return exit_code::usage;
  return Worker(argv[1], life, silent).run();
}
