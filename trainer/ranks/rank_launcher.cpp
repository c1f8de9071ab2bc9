#include "trainer/ranks/rank_launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "common/os/clock.hpp"
#include "common/os/fd.hpp"
#include "common/os/processes/process_id.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "common/protocol/protocol.hpp"
#include "trainer/ranks/rank.hpp"
#include "trainer/ranks/shared_folder.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

// How long mpiexec may take to end the others and itself after a rank was lost.
constexpr std::int64_t patience_ms = 3000;

// Settings for mpiexec, unless already set. Each belongs to Open MPI; other implementations ignore
// them.
constexpr std::array<std::pair<const char*, const char*>, 8> settings{{
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    {"OMPI_MCA_orte_execute_quiet", "1"},            // we say what happened
    {"OMPI_MCA_odls_base_sigkill_timeout", "0"},     // a lost rank ends all at once
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},      // more ranks than cores is slow, not wrong
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},  // a rank has threads of its own
    {"OMPI_MCA_mpi_yield_when_idle", "1"},           // for the threads of the others
    {"OMPI_MCA_btl_vader_single_copy_mechanism",
     "none"},  // containers often forbid it, and it says so
}};

// Where it puts what ranks that die do not clean up.
constexpr std::array folder_settings{"OMPI_MCA_btl_vader_backing_directory",
                                     "OMPI_MCA_orte_tmpdir_base"};

bool is_installed(std::string_view program) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
  }
  return false;
}

Result<Fd> take_signals(sigset_t& before) {
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) ::sigaddset(&ours, number);
  if (::sigprocmask(SIG_BLOCK, &ours, &before) != 0) return fail_errno(errno, "block signals");
  Fd fd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail_errno(errno, "receive signals");
  return fd;
}

// Between fork and exec: system calls only.
[[noreturn]] void become_mpiexec(char* const* words, pid_t parent, const sigset_t& signals) {
  ::setpgid(0, 0);  // what is sent to our group is for us to pass on
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(127);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  ::execvp(words[0], words);
  ::_exit(127);
}

std::string ending_of(int exit_code) {
  if (exit_code <= 128) return fmt::format("ended with exit code {}", exit_code);
  const int number = exit_code - 128;
  return fmt::format("died of signal {} ({})", number, ::strsignal(number));
}

struct Rank {
  pid_t pid = 0;
  Fd process;  // empty before it began and after it ended
  bool done = false;
};

class Launcher {
 public:
  // `ends`: an epoll descriptor. It reports ends in order, however late it is asked: when a
  // rank has died, mpiexec kills the others at once.
  Launcher(Fd socket, Fd signals, Fd ends, pid_t mpiexec, Fd mpiexec_process, int ranks,
           const std::function<void(std::string)>& say)
      : socket_(std::move(socket)),
        signals_(std::move(signals)),
        ends_(std::move(ends)),
        mpiexec_(mpiexec),
        mpiexec_process_(std::move(mpiexec_process)),
        ranks_(static_cast<std::size_t>(ranks)),
        say_(say) {}

  Result<int> run() {
    while (true) {
      std::array<pollfd, 4> waiting{{{socket_.get(), POLLIN, 0},
                                     {signals_.get(), POLLIN, 0},
                                     {mpiexec_process_.get(), POLLIN, 0},
                                     {ends_.get(), POLLIN, 0}}};
      const int ready = ::poll(waiting.data(), waiting.size(), wait_ms());
      if (ready < 0 && errno != EINTR) return fail_errno(errno, "wait for the ranks");
      if (ready == 0) end_all();
      if (ready <= 0) continue;
      if ((waiting[3].revents & POLLIN) != 0) note_ends();
      // What a rank said before it ended is in the socket before its end shows.
      read_messages();
      for (const std::size_t rank : ended_) {
        if (!ranks_[rank].done) lose(rank);
      }
      if ((waiting[1].revents & POLLIN) != 0) pass_signals_on();
      if ((waiting[2].revents & POLLIN) != 0) return finish();
    }
  }

 private:
  [[nodiscard]] int wait_ms() const {
    if (!lost_) return -1;
    return static_cast<int>(std::max<std::int64_t>(0, give_up_ - now().mono));
  }

  void read_messages() {
    std::array<char, 512> text{};
    while (true) {
      const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), 0);
      if (size < 0) return;
      const Message message = parse_message({text.data(), static_cast<std::size_t>(size)});
      const auto index = find_int(message, "RANK");
      if (!index || *index < 0 || *index >= static_cast<std::int64_t>(ranks_.size())) continue;
      Rank& rank = ranks_[static_cast<std::size_t>(*index)];
      if (find(message, "DONE")) rank.done = true;
      if (const auto pid = find_int(message, "PID")) {
        begin(static_cast<std::size_t>(*index), static_cast<pid_t>(*pid));
      }
    }
  }

  void begin(std::size_t number, pid_t pid) {
    Rank& rank = ranks_[number];
    rank.pid = pid;
    if (const auto id = identify(pid)) {
      if (auto process = open_process(*id)) rank.process = std::move(*process);
    }
    epoll_event when{EPOLLIN, {.u64 = number}};
    if (!rank.process || ::epoll_ctl(ends_.get(), EPOLL_CTL_ADD, rank.process.get(), &when) != 0) {
      ended_.push_back(number);
    }
    for (const Rank& each : ranks_) {
      if (each.pid == 0) return;
    }
    std::string pids;
    for (const Rank& each : ranks_) pids += fmt::format("{}{}", pids.empty() ? "" : ", ", each.pid);
    say_(fmt::format("{} ranks, processes {}", ranks_.size(), pids));
    if (pending_signal_ != 0) send_to_first(std::exchange(pending_signal_, 0));
  }

  void note_ends() {
    std::array<epoll_event, 64> ends{};
    const int count = ::epoll_wait(ends_.get(), ends.data(), static_cast<int>(ends.size()), 0);
    for (int i = 0; i < count; ++i) {
      const auto rank = static_cast<std::size_t>(ends.at(static_cast<std::size_t>(i)).data.u64);
      ended_.push_back(rank);
      ranks_[rank].process.reset();
    }
  }

  void lose(std::size_t rank) {
    if (lost_) return;
    lost_ = rank;
    give_up_ = now().mono + patience_ms;
  }

  void pass_signals_on() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      send_to_first(static_cast<int>(info.ssi_signo));
    }
  }

  // A stop outweighs a save where both came before the rank did.
  void send_to_first(int number) {
    if (ranks_[0].process) {
      (void)::syscall(SYS_pidfd_send_signal, ranks_[0].process.get(), number, nullptr, 0);
    } else if (pending_signal_ == 0 || pending_signal_ == SIGUSR1) {
      pending_signal_ = number;
    }
  }

  void end_all() {
    for (const Rank& rank : ranks_) {
      if (!rank.process) continue;
      (void)::syscall(SYS_pidfd_send_signal, rank.process.get(), SIGKILL, nullptr, 0);
    }
    ::kill(mpiexec_, SIGKILL);
    give_up_ = now().mono + patience_ms;
  }

  Result<int> finish() {
    int status = 0;
    ::waitpid(mpiexec_, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (lost_ && WIFEXITED(status)) {
      return fail(ErrorKind::transient,
                  fmt::format("rank {} of {} (process {}) {}; the others are ended", *lost_,
                              ranks_.size(), ranks_[*lost_].pid, ending_of(code)));
    }
    const auto is_done = [](const Rank& rank) { return rank.done; };
    if (std::all_of(ranks_.begin(), ranks_.end(), is_done)) return code;
    return fail(ErrorKind::transient,
                fmt::format("mpiexec (process {}) {} before the ranks were done", mpiexec_,
                            ending_of(code)),
                {}, fmt::format("see what it says to: mpiexec -n {} true", ranks_.size()));
  }

  Fd socket_;
  Fd signals_;
  Fd ends_;
  pid_t mpiexec_;
  Fd mpiexec_process_;
  std::vector<Rank> ranks_;
  std::vector<std::size_t> ended_;  // in their order
  const std::function<void(std::string)>& say_;
  int pending_signal_ = 0;  // came before rank 0
  std::optional<std::size_t> lost_;
  MonoTime give_up_;
};

}  // namespace

Result<int> launch_ranks(const RankLaunch& launch, const std::function<void(std::string)>& say) {
  if (!is_installed("mpiexec")) {
    return fail(ErrorKind::usage, "several ranks need mpiexec, which is not installed", {},
                "install openmpi-bin");
  }
  auto folder = SharedFolder::make();
  if (!folder) return propagate(folder);
  const fs::path socket_path = folder->path() / "socket";
  auto socket = bind_datagram(socket_path, 0600);
  if (!socket) return propagate(socket);
  for (const auto& [name, value] : settings) ::setenv(name, value, 0);
  for (const char* name : folder_settings) ::setenv(name, folder->path().c_str(), 0);
  ::setenv(env::ranks_socket, socket_path.c_str(), 1);

  std::vector<std::string> words{"mpiexec", "-n", std::to_string(launch.ranks)};
  words.insert(words.end(), launch.command.begin(), launch.command.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  Fd ends(::epoll_create1(EPOLL_CLOEXEC));
  if (!ends) return fail_errno(errno, "wait for the ranks");
  sigset_t before;
  auto signals = take_signals(before);
  if (!signals) return propagate(signals);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno(errno, "start mpiexec");
  if (pid == 0) become_mpiexec(pointers.data(), parent, before);
  auto id = identify(pid);
  if (!id) return propagate(id);
  auto process = open_process(*id);
  if (!process) return propagate(process);
  return Launcher(std::move(*socket), std::move(*signals), std::move(ends), pid,
                  std::move(*process), launch.ranks, say)
      .run();
}

}  // namespace trainward::trainer
