#include "supervisor/process/shim/memory/state_keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "common/os/clock.hpp"
#include "common/os/pipe.hpp"
#include "common/os/sockets/passed_descriptors.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "common/protocol/protocol.hpp"
#include "common/wire/launch.hpp"

namespace trainward::shim {
namespace {

// The numbers that the keeper has its descriptors under.
enum Number { socket_fd = 3, folder_fd, first_state_fd, number_end = first_state_fd + 2 };

// Of the child, between fork and exec: system calls only. The leases above all must not stay open.
void become_keeper(const std::array<int, number_end - socket_fd>& fds, char* const* words) {
  int above = number_end;
  for (const int fd : fds) above = std::max(above, fd + 1);
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (::dup2(fds[i], above + static_cast<int>(i)) < 0) return;
  }
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (::dup2(above + static_cast<int>(i), socket_fd + static_cast<int>(i)) < 0) return;
  }
  ::closefrom(number_end);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)!::chdir("/");
  std::array<char*, 1> no_environment{nullptr};
  ::execve("/proc/self/exe", words, no_environment.data());
}

bool send_state(int connection) {
  constexpr std::array<int, kept_descriptors> fds{first_state_fd, first_state_fd + 1};
  return send_with_descriptors(connection, std::string_view(&kept_answer, 1), fds).has_value();
}

// True: the process that asked has said that it has them.
bool hand_over() {
  const Fd connection(::accept4(socket_fd, nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection || !is_own_peer(connection.get()) || !send_state(connection.get())) return false;
  pollfd answered{connection.get(), POLLIN, 0};
  char answer = 0;
  return ::poll(&answered, 1, kept_wait_ms) == 1 &&
         ::recv(connection.get(), &answer, 1, MSG_DONTWAIT) == 1 && answer == kept_answer;
}

// 0: nothing lies there.
ino_t socket_inode() {
  struct stat info {};
  const bool there =
      ::fstatat(folder_fd, attempt_files::kept_state, &info, AT_SYMLINK_NOFOLLOW) == 0;
  return there ? info.st_ino : 0;
}

}  // namespace

Status start_keeper(const Folder& folder, const KeptState& state) {
  // One that an earlier attempt has left there is of no use to anybody now, and ends.
  if (auto gone = folder.remove_file(attempt_files::kept_state); !gone) return gone;
  auto socket = listen_for_packets(
      fmt::format("/proc/self/fd/{}/{}", folder.fd(), attempt_files::kept_state), 0600);
  if (!socket) return propagate(socket);
  auto closed = make_pipe();
  if (!closed) return propagate(closed);
  // Not a number that become_keeper() puts something else under.
  Fd end(::fcntl(closed->write.get(), F_DUPFD_CLOEXEC, static_cast<int>(number_end)));
  closed->write.reset();
  std::string program = "trainward-shim";
  std::string option = keep_option;
  std::string bound = std::to_string(keep_ms);
  const std::array<char*, 4> words{program.data(), option.data(), bound.data(), nullptr};
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno(errno, "start the keeper of the state in memory");
  if (pid == 0) {
    become_keeper({socket->get(), folder.fd(), state[0].get(), state[1].get()}, words.data());
    ::_exit(exit_code::failed);
  }
  // Until it holds nothing else: the leases are to be free when this process has ended.
  end.reset();
  char nothing = 0;
  while (::read(closed->read.get(), &nothing, 1) < 0 && errno == EINTR) {
  }
  return {};
}

int keep_state(std::int64_t bound_ms) {
  const ino_t own = socket_inode();
  const Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string folder = fmt::format("/proc/self/fd/{}", static_cast<int>(folder_fd));
  (void)!::inotify_add_watch(watch.get(), folder.c_str(), IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
  const MonoTime end = now().mono + bound_ms;
  bool taken = false;
  while (!taken && own != 0 && socket_inode() == own) {
    const std::int64_t left = end - now().mono;
    if (left <= 0) break;
    std::array<pollfd, 2> watched{{{socket_fd, POLLIN, 0}, {watch.get(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), static_cast<int>(left)) < 0) continue;
    alignas(inotify_event) std::array<char, 4096> events{};
    while (::read(watch.get(), events.data(), events.size()) > 0) {
    }
    if (watched[0].revents != 0) taken = hand_over();
  }
  if (own != 0 && socket_inode() == own) ::unlinkat(folder_fd, attempt_files::kept_state, 0);
  return exit_code::done;
}

}  // namespace trainward::shim
