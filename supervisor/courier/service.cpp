#include "supervisor/courier/service.hpp"

#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/courier/base/courier_lease.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t look_for_lease_ms = 250;
constexpr std::int64_t look_for_left_ms = 100;
constexpr std::int64_t tell_left_at_least_ms = 1'000;

// Also from the memory that the kernel keeps of files; 0 where it does not say.
std::int64_t read_so_far() {
  const auto text = read_file("/proc/self/io", 4096).value_or("");
  long long bytes = 0;
  return std::sscanf(text.c_str(), "rchar: %lld", &bytes) == 1 ? bytes : 0;
}

Fd asked_to_end() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGHUP}) sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

void log_plainly() {
  auto logger =
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%L %v");
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

class Service {
 public:
  explicit Service(const Trade& trade) : trade_(trade), signals_(asked_to_end()) {}

  int run() {
    while (!code_) {
      const std::int64_t now_ms = now().mono.ms;
      if (now_ms >= next_beat_ms_) beat(now_ms);
      if (orders_ && !runner_ && now_ms >= next_try_ms_) begin(now_ms);
      if (!code_ && leaving_ && runner_) tell_what_is_left(now_ms);
      if (!code_) wait(now_ms);
    }
    if (runner_ && !runner_->end()) {
      spdlog::warn("left a receiver behind that does not answer; the journal has where it was");
    }
    return *code_;
  }

 private:
  void beat(std::int64_t now_ms) {
    // Nobody reads: then stdin ends as well.
    (void)write_all(STDOUT_FILENO, "alive\n", "stdout");
    next_beat_ms_ = now_ms + trade_.beat_ms;
  }

  void wait(std::int64_t now_ms) {
    std::int64_t until = next_beat_ms_;
    if (orders_ && !runner_) until = std::min(until, next_try_ms_);
    if (leaving_ && runner_) until = std::min(until, now_ms + look_for_left_ms);
    std::array<pollfd, 2> watched{{{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    const auto pause = std::clamp<std::int64_t>(until - now_ms, 0, 60'000);
    if (::poll(watched.data(), watched.size(), static_cast<int>(pause)) <= 0) return;
    if (watched[1].revents != 0) return end(exit_code::done);
    if (watched[0].revents != 0) take_input();
  }

  void take_input() {
    std::array<char, 16 * 1024> bytes{};
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return end(exit_code::done);
    input_.append(bytes.data(), static_cast<std::size_t>(got));
    std::size_t line_end = 0;
    while (!code_ && (line_end = input_.find('\n')) != std::string::npos) {
      const std::string line = input_.substr(0, line_end);
      input_.erase(0, line_end + 1);
      take_line(line);
    }
    if (input_.size() > orders::most_order_bytes) refuse("a line of the input is too long");
  }

  void take_line(std::string_view line) {
    if (orders_) {
      if (line == orders::leave_word) {
        leaving_ = true;
        if (runner_) runner_->leave();
      }
      if (runner_) runner_->poke();
      return;
    }
    auto orders = orders::from_line(line);
    if (!orders) return refuse(orders.error().message());
    orders_ = std::move(*orders);
    fault_point("courier.ordered");
  }

  void tell_what_is_left(std::int64_t now_ms) {
    orders::Left left{runner_->left(), read_so_far()};
    if (trade_.measure && !left.jobs.empty()) {
      if (auto measured = trade_.measure(*journal_, left.jobs); !measured) {
        spdlog::warn("{}", clean(measured.error().message()));
      }
    }
    if (left.jobs == told_left_.jobs && now_ms < next_left_ms_) return;
    next_left_ms_ = now_ms + tell_left_at_least_ms;
    (void)write_all(STDOUT_FILENO, orders::line_of(left) + "\n", "stdout");
    told_left_ = std::move(left);
  }

  // With the lease comes the work.
  void begin(std::int64_t now_ms) {
    const std::filesystem::path state = orders_->state_dir;
    if (!lease_) {
      auto lease = try_lease(state);
      if (!lease) return give_up(lease.error());
      if (!*lease) {
        if (!std::exchange(told_of_wait_, true)) {
          spdlog::info("waits until the courier before it has ended");
        }
        next_try_ms_ = now_ms + look_for_lease_ms;
        return;
      }
      lease_ = std::move(**lease);
      fault_point("courier.leased");
    }
    auto journal = Journal::open(state / journal_name, trade_.tables);
    if (!journal) return give_up(journal.error());
    if (trade_.prepare) {
      if (auto prepared = trade_.prepare(**journal, *orders_); !prepared) {
        return give_up(prepared.error());
      }
    }
    auto jobs = trade_.jobs(*orders_);
    if (!jobs) return refuse(jobs.error().message());
    journal_ = std::move(*journal);
    auto runner = Runner::start(std::move(*jobs), orders_->database, journal_, trade_.pace);
    if (!runner) return give_up(runner.error());
    runner_ = std::move(*runner);
    if (leaving_) runner_->leave();
  }

  // Who started it says so in `status`, and starts it again.
  void give_up(const Error& error) {
    spdlog::error("cannot begin: {}", clean(error.message()));
    end(exit_code::try_again);
  }
  void refuse(const std::string& why) {
    spdlog::error("the orders are wrong: {}", clean(why));
    end(exit_code::configuration);
  }
  void end(int code) { code_ = code; }

  const Trade& trade_;
  Fd signals_;
  std::string input_;
  std::optional<orders::Orders> orders_;
  std::optional<Fd> lease_;  // given back after the jobs have ended
  std::shared_ptr<Journal> journal_;
  std::unique_ptr<Runner> runner_;
  bool leaving_ = false;
  orders::Left told_left_;
  std::int64_t next_left_ms_ = 0;
  std::int64_t next_beat_ms_ = 0;
  std::int64_t next_try_ms_ = 0;
  bool told_of_wait_ = false;
  std::optional<int> code_;
};

}  // namespace

int serve(const Trade& trade) {
  log_plainly();
  Service service(trade);
  return service.run();
}

}  // namespace trainward::courier
