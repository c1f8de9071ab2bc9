#include "supervisor/daemon/boards/reset_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"

namespace trainward::daemon {
namespace {

using hwprobe::Board;
using hwprobe::Verdict;

constexpr std::int64_t telemetry_ms = 120'000;

struct Trouble {
  std::string text;
  bool of_links = false;  // gets the longer time
};

// A held board is whole; who holds it is for the next look to judge.
bool works(Verdict verdict) { return hwprobe::usable(verdict) || verdict == Verdict::busy; }

bool is_up(const Board& board, const hwprobe::Link& wanted) {
  return std::any_of(board.links.begin(), board.links.end(), [&](const hwprobe::Link& link) {
    return link.up && link.from == wanted.from && link.to == wanted.to;
  });
}

Trouble trouble_of(const Board* before, const Board* after) {
  if (after == nullptr) return {"it is gone from the bus", false};
  if (!works(after->verdict)) {
    const bool of_links =
        after->verdict == Verdict::remote_lost || after->verdict == Verdict::resetting;
    return {fmt::format("{}{}{}", hwprobe::to_string(after->verdict),
                        after->evidence.empty() ? "" : ": ",
                        after->evidence.empty() ? "" : after->evidence.front().what),
            of_links};
  }
  if (before == nullptr) return {};
  if (after->chips.size() < before->chips.size()) {
    return {fmt::format("{} of {} are there", after->chips.size(),
                        count(static_cast<std::int64_t>(before->chips.size()), "chip")),
            true};
  }
  for (const hwprobe::Link& link : before->links) {
    if (link.up && !is_up(*after, link)) {
      return {fmt::format("the link from {} to {} was up and is not", link.from, link.to), true};
    }
  }
  return {};
}

std::string what_is_there(const Board& board) {
  const auto up = std::count_if(board.links.begin(), board.links.end(),
                                [](const hwprobe::Link& link) { return link.up; });
  return fmt::format("{}, {}, {} up", hwprobe::to_string(board.verdict),
                     count(static_cast<std::int64_t>(board.chips.size()), "chip"),
                     count(static_cast<std::int64_t>(up), "link"));
}

}  // namespace

ResetCheck check_reset(const Board* before, const Board* after, std::int64_t since_reset_ms,
                       std::int64_t settle_ms) {
  using State = ResetCheck::State;
  Trouble trouble = trouble_of(before, after);
  if (trouble.text.empty()) return {State::restored, what_is_there(*after)};
  const std::int64_t allowed = trouble.of_links ? settle_ms : std::min(settle_ms, telemetry_ms);
  return {since_reset_ms < allowed ? State::not_yet : State::failed, std::move(trouble.text)};
}

}  // namespace trainward::daemon
