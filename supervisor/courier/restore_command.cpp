#include <fcntl.h>
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/os/clock.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/courier/upload/restore.hpp"
#include "supervisor/courier/upload_commands.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::courier {
namespace {

void print(const json::object& line) {
  (void)write_all(STDOUT_FILENO, json::serialize(line) + "\n", "stdout");
}

int fail_with(const std::string& why) {
  print({{"error", why}});
  return exit_code::failed;
}

Result<std::string> read_line() {
  std::string line;
  std::array<char, 16 * 1024> bytes{};
  while (line.find('\n') == std::string::npos) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read the orders");
    if (got == 0 || line.size() > orders::most_order_bytes) {
      return fail(ErrorKind::corrupt, "the orders are cut off, or too long");
    }
    line.append(bytes.data(), static_cast<std::size_t>(got));
  }
  line.resize(line.find('\n'));
  return line;
}

// Asks the restore to stop when the process that started it is gone, or a signal comes.
class EndWatch {
 public:
  EndWatch() : over_(::eventfd(0, EFD_CLOEXEC)) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC));
    thread_ = std::thread([this] { watch(); });
  }
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;
  ~EndWatch() {
    (void)::eventfd_write(over_.get(), 1);
    thread_.join();
  }
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  void watch() {
    std::array<pollfd, 3> watched{
        {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}, {over_.get(), POLLIN, 0}}};
    while (true) {
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
      if (watched[2].revents != 0) return;
      if (watched[1].revents != 0) break;
      if (watched[0].revents == 0) continue;
      char ignored = 0;
      if (::read(STDIN_FILENO, &ignored, 1) <= 0) break;
    }
    stop_.request_stop();
  }

  std::stop_source stop_;
  Fd signals_;
  Fd over_;
  std::thread thread_;
};

// One at a time for a program: of a daemon before this one, another may still be about to end.
Result<Fd> sole(const std::string& checkpoints) {
  const auto folder = std::filesystem::path(checkpoints).parent_path();
  if (auto ok = make_folders(folder); !ok) return propagate(ok);
  auto fd = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (!fd) return fd;
  if (::flock(fd->get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorKind::transient, "another restore of this program is at work",
                folder.string());
  }
  return fd;
}

}  // namespace

int restore_command() {
  auto logger =
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%L %v");
  spdlog::set_default_logger(std::move(logger));
  auto line = read_line();
  if (!line) return fail_with(line.error().message());
  auto orders = orders::from_line(*line);
  if (!orders) return fail_with(orders.error().message());
  if (orders->uploads.size() != 1) return fail_with("the orders are of no single program");
  const orders::UploadOrder& order = orders->uploads.front();
  auto lock = sole(order.source.checkpoints);
  if (!lock) return fail_with(lock.error().message());

  const EndWatch watch;
  upload::RestoreOptions options;
  options.network = {orders->proxy, orders->certificates};
  options.stop = watch.token();
  MonoTime told = {};
  options.progress = [&told](const upload::RestoreProgress& at) {
    const MonoTime time = now().mono;
    if (time - told < 1'000) return;
    told = time;
    print({{"progress", json::object{{"target", at.target},
                                     {"name", at.name},
                                     {"step", at.step},
                                     {"bytes", at.bytes},
                                     {"total", at.total}}}});
  };
  options.note = [](const std::string& text) { print({{"note", text}}); };
  auto restored = upload::restore(order, options);
  if (!restored) return fail_with(restored.error().message());
  print({{"restored", json::object{{"path", restored->path},
                                   {"name", restored->name},
                                   {"target", restored->target},
                                   {"step", restored->step},
                                   {"bytes", restored->bytes}}}});
  return exit_code::done;
}

}  // namespace trainward::courier
