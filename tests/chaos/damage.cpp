#include "damage.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "common/os/file.hpp"
#include "swapping.hpp"

namespace trainward::chaos {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> database_parts{"", "-wal", "-shm"};
constexpr std::int64_t page_bytes = 4'096;

void flip(const fs::path& file, std::int64_t at, std::int64_t bytes) {
  auto fd = open_file(file, O_RDWR);
  std::vector<char> text(static_cast<std::size_t>(bytes));
  if (!fd) return;
  const ssize_t got = ::pread(fd->get(), text.data(), text.size(), at);
  if (got <= 0) return;
  for (ssize_t i = 0; i < got; ++i) text[static_cast<std::size_t>(i)] ^= '\x15';
  (void)!::pwrite(fd->get(), text.data(), static_cast<std::size_t>(got), at);
}

void zero_page(const fs::path& file, std::int64_t page) {
  auto fd = open_file(file, O_RDWR);
  const std::vector<char> zeros(page_bytes, '\0');
  if (fd) (void)!::pwrite(fd->get(), zeros.data(), zeros.size(), page * page_bytes);
}

std::int64_t size_of(const fs::path& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 ? info.st_size : 0;
}

void cut(const fs::path& file, std::int64_t size) { (void)!::truncate(file.c_str(), size); }

sockaddr_in address_of(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Fd bound_to(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = address_of(port);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fd.reset();
  }
  return fd;
}

}  // namespace

bool kill_and_wait(pid_t daemon) {
  const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, daemon, 0)));
  ::kill(daemon, SIGKILL);
  pollfd gone{handle.get(), POLLIN, 0};
  return handle && ::poll(&gone, 1, 2'000) == 1;
}

void damage_database(const fs::path& state, std::uint64_t how, std::uint64_t where) {
  const fs::path file = state / "trainward.db";
  const fs::path log = file.string() + "-wal";
  std::error_code ignored;
  const std::int64_t size = size_of(file);
  const auto somewhere = static_cast<std::int64_t>(where) * std::max<std::int64_t>(size, 1) / 1'000;
  switch (how % 7) {
    case 0:
      fs::remove(log, ignored);
      return;
    case 1:
      return cut(log, size_of(log) / 2);
    case 2:
      return flip(file, somewhere, 1);
    case 3:
      return flip(log, size_of(log) / 2, 64);
    case 4:
      return zero_page(file, somewhere / page_bytes);
    case 5:
      return cut(file, size / 2);
    default:
      for (const std::string_view part : database_parts) {
        fs::remove(file.string() + std::string(part), ignored);
      }
  }
}

void take_back(const fs::path& state, const fs::path& copy) {
  const std::string file = (state / "trainward.db").string();
  std::error_code error;
  const bool back = fs::exists(copy, error);
  for (const std::string_view part : database_parts) {
    const std::string live = file + std::string(part);
    const std::string kept = copy.string() + std::string(part);
    const std::string& from = back ? kept : live;
    const std::string& to = back ? live : kept;
    fs::remove(to, error);
    if (fs::exists(from, error)) fs::copy_file(from, to, error);
    if (back) fs::remove(kept, error);
  }
}

void damage_journal(const fs::path& journal, std::uint64_t how) {
  switch (how % 4) {
    case 0:
      ::unlink(journal.c_str());
      return;
    case 1:
      return cut(journal, 0);
    case 2:
      return flip(journal, 0, 20);
    default:
      return cut(journal, size_of(journal) * 2 / 3);
  }
}

// ---- the port ----

class PortThieves {
 public:
  explicit PortThieves(std::uint16_t port) {
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([port](const std::stop_token& end) {
        Fd mine;
        while (!end.stop_requested()) {
          if (!mine) mine = bound_to(port);
          if (mine) (void)::listen(mine.get(), 8);
          ::poll(nullptr, 0, mine ? 5 : 0);
        }
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

std::shared_ptr<PortThieves> steal_port(std::uint16_t port) {
  return std::make_shared<PortThieves>(port);
}

std::uint16_t free_port() {
  const Fd fd = bound_to(0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool page_answers(std::uint16_t port) {
  constexpr std::string_view question =
      "GET /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{2, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const sockaddr_in address = address_of(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(fd.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) {
    return false;
  }
  std::array<char, 8> answer{};
  return ::recv(fd.get(), answer.data(), answer.size(), MSG_WAITALL) > 0 &&
         std::string_view(answer.data(), 5) == "HTTP/";
}

// ---- folders ----

class Exchange {
 public:
  Exchange(const fs::path& folder, const fs::path& victim)
      : folder_(folder), link_(folder.string() + ".link") {
    std::error_code error;
    fs::remove(link_, error);
    fs::create_directory_symlink(victim, link_, error);
    if (!error) swapping_.emplace(folder_, link_);
  }
  ~Exchange() {
    swapping_.reset();
    std::error_code error;
    // The folder is under the other name every second time.
    if (fs::is_symlink(folder_, error)) {
      ::renameat2(AT_FDCWD, folder_.c_str(), AT_FDCWD, link_.c_str(), RENAME_EXCHANGE);
    }
    fs::remove(link_, error);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  fs::path folder_;
  fs::path link_;
  std::optional<Swapping> swapping_;
};

std::shared_ptr<Exchange> exchange_for_link(const fs::path& folder, const fs::path& victim) {
  return std::make_shared<Exchange>(folder, victim);
}

}  // namespace trainward::chaos
