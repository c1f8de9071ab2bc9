#include "first_step.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "common/base/json/json.hpp"
#include "common/os/file.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "common/protocol/protocol.hpp"
#include "measure.hpp"

namespace trainward::roofline {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class Scratch {
 public:
  explicit Scratch(const fs::path& in) : path_(in / fmt::format("roofline-{}", ::getpid())) {
    must(make_folders(path_));
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(Scratch&&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_config(const FirstStepCase& which, const fs::path& folder, int steps) {
  json::object device{{"threads", which.threads}};
  if (!which.plugin.empty()) {
    device["plugin"] = which.plugin;
    device["options"] = json::object{{"threads", which.threads}};
  }
  const json::object config{{"training_config",
                             {{"model", which.model},
                              {"steps", steps},
                              {"batch_size", which.batch_size},
                              {"block_size", which.block_size},
                              {"vocabulary", which.vocabulary},
                              {"checkpoint_every", 1'000'000},
                              {"data", json::array{(folder / "text").string()}}}},
                            {"device_config", device}};
  must(write_file_durably(folder / "config.json", json::serialize(config)));
}

pid_t start(const fs::path& folder, const std::string& resume) {
  std::vector<std::string> words{WORKER,
                                 "train",
                                 "--config",
                                 (folder / "config.json").string(),
                                 "--checkpoint-dir",
                                 (folder / "checkpoints").string()};
  if (!resume.empty()) words.insert(words.end(), {"--resume", resume});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(quiet, STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  return pid;
}

// Direct reads and writes pass the page cache by; reading like anybody else fills it.
double read_all(const fs::path& folder) {
  double bytes = 0;
  std::vector<char> buffer(std::size_t{4} << 20U);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const Fd file = must(open_file(entry.path(), O_RDONLY | O_CLOEXEC));
    for (ssize_t size = 0; (size = ::read(file.get(), buffer.data(), buffer.size())) > 0;) {
      bytes += static_cast<double>(size);
    }
  }
  return bytes;
}

// The worker's next message; it must not end before.
Message next(const Fd& socket) {
  pollfd waited{socket.get(), POLLIN, 0};
  constexpr int patience_ms = 600'000;
  std::array<char, max_message_bytes> bytes{};
  ssize_t size = -1;
  if (::poll(&waited, 1, patience_ms) == 1)
    size = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  if (size < 0) {
    std::fprintf(stderr, "the worker says nothing\n");
    std::exit(1);
  }
  return parse_message({bytes.data(), static_cast<std::size_t>(size)});
}

}  // namespace

FirstStep measure_first_step(const FirstStepCase& which) {
  const Scratch scratch(which.scratch);
  const fs::path& folder = scratch.path();
  must(write_file_durably(folder / "text", std::string(100'000, 'x')));
  write_config(which, folder, 1);
  // Nothing else runs in this process.
  ::setenv(env::program_cache, (folder / "programs").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  int status = 0;
  ::waitpid(start(folder, ""), &status, 0);
  if (status != 0) {
    std::fprintf(stderr, "the worker wrote no checkpoint: wait status %d\n", status);
    std::exit(1);
  }
  FirstStep result;
  const fs::path checkpoint = folder / "checkpoints" / "step-00000001";
  result.checkpoint_bytes = read_all(checkpoint);

  write_config(which, folder, 2);
  const Fd socket = must(bind_datagram(folder / "socket", 0600));
  ::setenv(env::socket, (folder / "socket").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const auto began = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  const pid_t worker = start(folder, checkpoint.string());
  for (;;) {
    const Message message = next(socket);
    if (result.loaded_seconds == 0 && find(message, "PHASE") == "train") {
      result.loaded_seconds = elapsed();
    }
    if (find(message, "CACHE_MISS")) ++result.compiled;
    if (find_int(message, "STEP")) break;
  }
  result.step_seconds = elapsed();
  ::kill(worker, SIGKILL);
  rusage usage{};
  ::wait4(worker, &status, 0, &usage);
  result.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  return result;
}

}  // namespace trainward::roofline
