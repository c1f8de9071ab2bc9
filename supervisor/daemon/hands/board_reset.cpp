#include "supervisor/daemon/hands/board_reset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "supervisor/daemon/boards/reset_check.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t most_between_looks_ms = 2'000;
constexpr std::int64_t least_between_looks_ms = 10;

const hwprobe::Board* board_in(const std::optional<hwprobe::Report>& report,
                               const std::string& serial) {
  if (!report) return nullptr;
  const auto found =
      std::find_if(report->boards.begin(), report->boards.end(),
                   [&](const hwprobe::Board& board) { return board.serial == serial; });
  return found == report->boards.end() ? nullptr : &*found;
}

std::string holders_of(const hwprobe::Board& board) {
  if (!board.holders.empty()) {
    return fmt::format("board {} is in use by process {}", board.serial,
                       fmt::join(board.holders, ", "));
  }
  if (board.verdict != hwprobe::Verdict::busy) return {};
  return fmt::format("board {} is in use", board.serial);
}

bool names(const std::vector<foreign::Template>& command, std::string_view name) {
  return std::ranges::any_of(command,
                             [&](const foreign::Template& word) { return word.names(name); });
}

std::string failure(const Result<ChildResult>& result) {
  if (!result) return result.error().message();
  if (result->exit_code == 0) return {};
  const std::string said(trim(result->standard_error));
  return fmt::format("exit code {}{}{}", result->exit_code, said.empty() ? "" : ": ", said);
}

}  // namespace

ResetOfBoards::ResetOfBoards(Services& services, ResetOrder order,
                             std::function<void(ResetOutcome)> done)
    : services_(services), order_(std::move(order)), done_(std::move(done)), timer_(services.loop) {
  look([this](const Result<hwprobe::Report>& report) { before(report); });
}

void ResetOfBoards::look(std::function<void(Result<hwprobe::Report>)> then) {
  child_ =
      probe_boards(services_.loop, services_.paths, order_.probe, services_.store, std::move(then));
}

void ResetOfBoards::before(const Result<hwprobe::Report>& report) {
  if (report) first_look_ = *report;
  std::string held;
  for (const std::string& serial : order_.boards) {
    const hwprobe::Board* board = board_in(first_look_, serial);
    if (board != nullptr && held.empty()) held = holders_of(*board);
  }
  if (!held.empty()) return finish({held + "; it is not taken from under it", ""});
  run_command();
}

const hwprobe::Board* ResetOfBoards::as_known(const std::string& serial) const {
  const hwprobe::Board* board = board_in(order_.known, serial);
  return board != nullptr ? board : board_in(first_look_, serial);
}

// Where it was last seen; a board that is gone may be reset by its number only.
std::string ResetOfBoards::bus_id_of(const std::string& serial) const {
  const hwprobe::Board* board = board_in(first_look_, serial);
  if (board == nullptr) board = as_known(serial);
  return board == nullptr ? "" : board->bus_id;
}

foreign::Values ResetOfBoards::values_for(const std::string& serial) const {
  std::vector<std::string> devices;
  for (const std::string& board : order_.boards) {
    if (std::string bus_id = bus_id_of(board); !bus_id.empty()) devices.push_back(bus_id);
  }
  return {{"serial", serial},
          {"bus_id", bus_id_of(serial)},
          {"serials", fmt::format("{}", fmt::join(order_.boards, ","))},
          {"devices", fmt::format("{}", fmt::join(devices, ","))}};
}

void ResetOfBoards::run_command() {
  const auto unknown = std::ranges::find_if(
      order_.boards, [this](const std::string& serial) { return bus_id_of(serial).empty(); });
  if (names(order_.command, "devices") && unknown != order_.boards.end()) {
    return finish(
        {fmt::format("the PCI address of board {} is not known, so {{devices}} would leave "
                     "it out; {{serials}} would not",
                     *unknown),
         ""});
  }
  const foreign::Values values = values_for(order_.boards.at(next_));
  if (names(order_.command, "devices") || names(order_.command, "serials"))
    next_ = order_.boards.size() - 1;
  std::vector<std::string> argv;
  argv.reserve(order_.command.size());
  for (const foreign::Template& word : order_.command) argv.push_back(word.fill(values).text);
  child_ =
      std::make_unique<ChildProcess>(services_.loop, std::move(argv), order_.deadline_ms,
                                     [this](const Result<ChildResult>& result) {
                                       if (std::string error = failure(result); !error.empty()) {
                                         return finish({std::move(error), ""});
                                       }
                                       if (++next_ < order_.boards.size()) return run_command();
                                       reset_at_ = now().mono;
                                       rest();
                                     });
}

void ResetOfBoards::rest() {
  const auto look_after = [this] {
    look([this](const Result<hwprobe::Report>& report) { after(report); });
  };
  if (order_.rest_ms == 0) return look_after();
  timer_.after(order_.rest_ms, look_after);
  order_.resting(order_.rest_ms);
}

void ResetOfBoards::after(const Result<hwprobe::Report>& report) {
  using State = ResetCheck::State;
  const std::int64_t since = now().mono - reset_at_;
  const std::optional<hwprobe::Report> seen = report ? std::optional(*report) : std::nullopt;
  State worst = State::restored;
  std::vector<std::string> words;
  for (const std::string& serial : order_.boards) {
    ResetCheck check =
        check_reset(as_known(serial), board_in(seen, serial), since, order_.settle_ms);
    if (!report) check.text = "the probe failed: " + report.error().message();
    // Over, as soon as one of them is beyond hope.
    if (check.state != State::restored && worst != State::failed) worst = check.state;
    words.push_back(order_.boards.size() == 1 ? std::move(check.text)
                                              : fmt::format("{} {}", serial, check.text));
  }
  const std::string found =
      fmt::format("after {}: {}", human_duration(since), fmt::join(words, "; "));
  if (worst == State::restored) return finish({"", found});
  if (worst == State::failed) {
    return finish(
        {"the command reported success, but the board is not what it was " + found, found});
  }
  const std::int64_t pause =
      std::clamp(order_.settle_ms / 10, least_between_looks_ms, most_between_looks_ms);
  timer_.after(pause,
               [this] { look([this](const Result<hwprobe::Report>& again) { after(again); }); });
}

void ResetOfBoards::finish(ResetOutcome outcome) {
  // The owner may destroy this object inside `done`.
  auto done = std::exchange(done_, nullptr);
  done(std::move(outcome));
}

}  // namespace trainward::daemon
