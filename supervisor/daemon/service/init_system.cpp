#include "supervisor/daemon/service/init_system.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/text.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t answer_ms = 5'000;

std::string text_of(char* owned) {
  std::string text = owned == nullptr ? "" : owned;
  std::free(owned);
  return text;
}

std::vector<std::string> helper_command(const std::filesystem::path& programs, bool user_manager) {
  std::vector<std::string> words{(programs / "trainward-unit").string()};
  if (user_manager) words.emplace_back("--user");
  return words;
}

}  // namespace

std::optional<ServiceUnit> service_unit() {
  // The environment passes to children, also across su and job schedulers; this variable says whose
  // it was. It holds across a restart in place, which keeps the pid.
  const char* main_process = std::getenv("SYSTEMD_EXEC_PID");
  if (main_process == nullptr || std::to_string(::getpid()) != main_process) return std::nullopt;
  char* name = nullptr;
  const bool user_manager = sd_pid_get_user_unit(0, &name) >= 0;
  if (!user_manager && sd_pid_get_unit(0, &name) < 0) return std::nullopt;
  ServiceUnit unit{text_of(name), user_manager};
  if (!unit.name.ends_with(".service")) return std::nullopt;
  return unit;
}

std::vector<std::string> scope_prefix(const std::filesystem::path& programs, const std::string& run,
                                      std::int64_t attempt, std::int64_t stop_ms) {
  const auto unit = service_unit();
  if (!unit) return {};
  auto words = helper_command(programs, unit->user_manager);
  for (const std::string& word :
       {std::string("scope"), std::string("--unit"),
        fmt::format("trainward-{}-{}.scope", run, attempt), std::string("--description"),
        fmt::format("Trainward run {}, attempt {}", run, attempt), std::string("--before"),
        unit->name, std::string("--stop-ms"), std::to_string(stop_ms + stop_margin_ms),
        std::string("--")}) {
    words.push_back(word);
  }
  return words;
}

InitSystem::InitSystem(Loop& loop, ServiceUnit unit, std::filesystem::path programs)
    : loop_(loop), unit_(std::move(unit)), programs_(std::move(programs)) {}

std::vector<std::string> InitSystem::helper(std::vector<std::string> words) const {
  auto command = helper_command(programs_, unit_.user_manager);
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

void InitSystem::why_stopped(std::function<void(StopReason)> answer) {
  question_ = std::make_unique<ChildProcess>(
      loop_, helper({"job", unit_.name}), answer_ms,
      [answer = std::move(answer)](Result<ChildResult> result) {
        if (!result || result->exit_code != 0) {
          spdlog::warn("systemd does not say whether this is a stop or a restart: {}",
                       result ? result->standard_error : result.error().message());
          return answer(StopReason::unknown);
        }
        const std::string_view job = trim(result->standard_output);
        answer(job == "none"   ? StopReason::nobody
               : job == "stop" ? StopReason::stop
                               : StopReason::restart);
      });
}

void InitSystem::stop_service(std::function<void()> failed) {
  stop_ = std::make_unique<ChildProcess>(
      loop_, helper({"stop", unit_.name}), answer_ms,
      [failed = std::move(failed)](Result<ChildResult> result) {
        if (result && result->exit_code == 0) return;  // SIGTERM follows
        spdlog::info("systemd does not stop the service: {}",
                     result ? result->standard_error : result.error().message());
        failed();
      });
}

void InitSystem::try_scope() {
  auto command = scope_prefix(programs_, fmt::format("try.{}", ::getpid()), 0, 1'000);
  if (command.empty()) return;
  command.emplace_back("true");
  trial_ = std::make_unique<ChildProcess>(
      loop_, std::move(command), answer_ms, [](Result<ChildResult> result) {
        if (result && result->exit_code == 0 && result->standard_error.empty()) return;
        spdlog::warn("attempts run inside the service's control group: {}",
                     result ? result->standard_error : result.error().message());
      });
}

}  // namespace trainward::daemon
