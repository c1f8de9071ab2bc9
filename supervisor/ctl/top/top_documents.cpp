#include "supervisor/ctl/top/top_documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "supervisor/ctl/top/silence.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/decide/view/board_view.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::ctl::top {
namespace {

using views::for_each_row;
using views::list_in;

constexpr std::int64_t stale_sample_ms = 120'000;

// A column of numbers that may be shorter than its neighbours, or not be there.
class Numbers {
 public:
  Numbers(const json::object& columns, std::string_view key) : list_(list_in(columns, key)) {}
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] double real(std::size_t i) const {
    if (i >= list_.size() || !list_[i].is_number()) return no_number;
    return list_[i].to_number<double>();
  }
  [[nodiscard]] std::int64_t whole(std::size_t i) const {
    if (i >= list_.size()) return 0;
    return list_[i].is_int64() ? list_[i].get_int64() : 0;
  }

 private:
  const json::array& list_;
};

const json::object& object_in(const json::object& object, std::string_view key) {
  static const json::object none;
  const auto found = get_object(object, key);
  return found ? **found : none;
}

void read_points(const json::object& columns, Curve& curve) {
  const Numbers step(columns, "step");
  const Numbers least(columns, "min");
  const Numbers most(columns, "max");
  const Numbers mean(columns, "mean");
  const Numbers count(columns, "count");
  const Numbers nan(columns, "nan");
  const Numbers attempt(columns, "attempt");
  const Numbers at(columns, "at_ms");
  for (std::size_t i = 0; i < step.size(); ++i) {
    curve.points.push_back({step.whole(i), least.real(i), most.real(i), mean.real(i),
                            count.whole(i), nan.whole(i), attempt.whole(i), at.whole(i)});
  }
  std::ranges::sort(curve.points, {}, &CurvePoint::step);
}

std::vector<CurveSpot> spots_of(const json::object& columns, std::string_view value) {
  const Numbers step(columns, "step");
  const Numbers loss(columns, value);
  std::vector<CurveSpot> spots;
  for (std::size_t i = 0; i < step.size(); ++i) spots.push_back({step.whole(i), loss.real(i)});
  return spots;
}

Look look_of(core::Tone tone) {
  switch (tone) {
    case core::Tone::good:
      return looks::good;
    case core::Tone::changing:
      return looks::changing;
    case core::Tone::quiet:
      return looks::dim;
    case core::Tone::bad:
      return looks::bad;
  }
  return looks::plain;
}

Program program_of(const views::Told& told, const Documents& documents) {
  const views::Sentence& sentence = told.sentence;
  Program program;
  program.name = string_or(*told.row, "name", "");
  program.look = look_of(sentence.tone);
  program.glyph = documents.ascii ? std::string(1, sentence.ascii_glyph) : sentence.glyph;
  program.sentence = sentence.text;
  program.figures = views::newest_step_text(*told.row);
  program.todo = sentence.todo;
  program.urgent = sentence.need == views::Need::must;
  // Only a daemon says that it runs now.
  const bool runs =
      documents.origin == Origin::daemon && sentence.state == core::to_string(core::Shown::running);
  const auto recent = documents.recent.find(program.name);
  if (runs && recent != documents.recent.end()) {
    program.silence = silence_of(curve_of(recent->second), documents.now_ms);
  }
  return program;
}

Ledger ledger_of(const std::string& window, const json::object& document) {
  Ledger ledger;
  ledger.window = window;
  ledger.seconds = number_or(document, "total_seconds", 0);
  ledger.effective = number_or(document, "effective_share", 0);
  for_each_row(document, "phases", [&](const json::object& row) {
    ledger.phases.push_back(
        {string_or(row, "phase", "-"), string_or(row, "cause", ""), number_or(row, "share", 0)});
  });
  return ledger;
}

std::optional<double> optional_number(const json::object& row, std::string_view key) {
  const auto number = get_number(row, key);
  return number ? std::optional<double>(*number) : std::nullopt;
}

Board board_of(const json::object& row, std::int64_t now_ms) {
  Board board;
  board.serial = string_or(row, "serial", "-");
  board.type = string_or(row, "type", "");
  views::BoardStanding standing = views::standing_of(row, now_ms);
  board.verdict = std::move(standing.verdict);
  board.reason = board.verdict == "OK" ? "" : std::move(standing.reason);
  board.look = look_of(views::tone_of(board.verdict));
  board.celsius = optional_number(row, "temperature_c");
  board.celsius_limit = number_or(row, "limit_c", board.celsius_limit);
  board.watts = optional_number(row, "power_w");
  const std::int64_t sampled = int_or(row, "sampled_ms", 0);
  if (sampled > 0 && now_ms - sampled > stale_sample_ms) {
    board.measured = "measured " + views::age(now_ms - sampled);
  }
  return board;
}

Event event_of(const json::object& row, const TimeText& time_text) {
  const std::string at = string_or(row, "at", "");
  const auto wall_ms = views::wall_ms_of(at);
  return {int_or(row, "id", 0),       wall_ms ? time_text(*wall_ms) : at,
          int_or(row, "attempt", 0),  string_or(row, "kind", "-"),
          string_or(row, "text", ""), string_or(row, "by", "")};
}

}  // namespace

Curve curve_of(const json::object& document) {
  Curve curve;
  curve.from = int_or(document, "from", 0);
  curve.to = int_or(document, "to", 0);
  curve.first_step = int_or(document, "first_step", 0);
  curve.newest_step = int_or(document, "newest_step", 0);
  curve.bucket_steps = std::max<std::int64_t>(int_or(document, "bucket_steps", 1), 1);
  read_points(object_in(document, "columns"), curve);
  for_each_row(document, "lost", [&](const json::object& row) {
    const auto spots = spots_of(row, "mean");
    curve.lost.insert(curve.lost.end(), spots.begin(), spots.end());
  });
  for_each_row(document, "attempts", [&](const json::object& row) {
    curve.attempts.push_back({int_or(row, "attempt", 0), int_or(row, "first_step", 0),
                              int_or(row, "last_step", 0), string_or(row, "cause", ""),
                              int_or(row, "ended_ms", 0) > 0});
  });
  std::ranges::sort(curve.attempts, {}, &CurveAttempt::number);
  curve.evaluations = spots_of(object_in(document, "evaluations"), "loss");
  for_each_row(document, "checkpoints", [&](const json::object& row) {
    if (string_or(row, "state", "") == "verified") {
      curve.checkpoints.push_back(int_or(row, "step", 0));
    }
  });
  return curve;
}

Snapshot snapshot_of(const Documents& documents, const TimeText& time_text) {
  Snapshot snapshot;
  snapshot.clock = time_text(documents.now_ms);
  snapshot.origin = documents.origin;
  snapshot.trouble = documents.trouble;
  const json::array& rows = documents.programs;
  for (const views::Told& told : views::told_of(rows, documents.now_ms)) {
    snapshot.programs.push_back(program_of(told, documents));
  }
  snapshot.selected = documents.selected;
  if (!documents.curve.empty()) snapshot.curve = curve_of(documents.curve);
  for (const auto& [window, ledger] : documents.ledgers) {
    snapshot.ledgers.push_back(ledger_of(window, ledger));
  }
  for_each_row(documents.boards, [&](const json::object& row) {
    snapshot.boards.push_back(board_of(row, documents.now_ms));
  });
  // What somebody has to look at comes first.
  std::stable_partition(snapshot.boards.begin(), snapshot.boards.end(),
                        [](const Board& board) { return board.look == looks::bad; });
  for_each_row(documents.events, [&](const json::object& row) {
    snapshot.events.push_back(event_of(row, time_text));
  });
  snapshot.log = documents.log;
  return snapshot;
}

}  // namespace trainward::ctl::top
