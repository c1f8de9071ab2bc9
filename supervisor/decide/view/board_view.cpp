#include "supervisor/decide/view/board_view.hpp"

#include "common/base/text.hpp"
#include "supervisor/decide/view/view_rows.hpp"

namespace trainward::views {

BoardStanding standing_of(const json::object& board, std::int64_t now_ms) {
  const std::int64_t left_ms = int_or(board, "quarantined_until_ms", 0) - now_ms;
  BoardStanding standing{or_dash(string_or(board, "verdict", "")), string_or(board, "reason", "")};
  if (left_ms <= 0) return standing;
  std::string reason =
      fmt::format("for {}: {}", human_duration(left_ms), or_dash(string_or(board, "fault", "")));
  if (standing.verdict != "OK") {
    reason += fmt::format("; {}: {}", standing.verdict, standing.reason);
  }
  return {"QUARANTINE", std::move(reason)};
}

}  // namespace trainward::views
