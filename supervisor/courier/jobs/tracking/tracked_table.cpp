#include "supervisor/courier/jobs/tracking/tracked_table.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/json/json.hpp"

namespace trainward::courier {

std::vector<std::string> tracking_tables() {
  // attempt and step are for people; the cursor is the tracker's own.
  return {
      "create table if not exists tracked (program text not null, tracker text not null, "
      "place text not null, attempt integer not null, step integer not null, "
      "at_ms integer not null, cursor text not null, primary key (program, tracker, place)) "
      "strict"};
}

TrackedRow::TrackedRow(std::string program, std::string tracker, std::string place)
    : program_(std::move(program)), tracker_(std::move(tracker)), place_(std::move(place)) {}

void TrackedRow::use(Journal& journal, std::int64_t now_ms) {
  journal_ = &journal;
  now_ms_ = now_ms;
}

Result<std::string> TrackedRow::get() {
  std::string text;
  auto read = journal_->read([&](store::Connection& db) {
    return db.each(
        "select cursor from tracked where program = ? and tracker = ? and place = ?",
        [&](const store::Row& row) { text = row.text(0); }, program_, tracker_, place_);
  });
  if (!read) return propagate(read);
  return text;
}

Status TrackedRow::put(const std::string& text) {
  std::int64_t attempt = 0;
  std::int64_t step = 0;
  if (const auto value = parse_json(text, "cursor"); value && value->is_object()) {
    attempt = int_or(value->get_object(), "attempt", 0);
    step = std::max<std::int64_t>(int_or(value->get_object(), "step", 0), 0);
  }
  return journal_->transact([&](store::Connection& db) {
    return db.run(
        "insert or replace into tracked (program, tracker, place, attempt, step, at_ms, cursor) "
        "values (?, ?, ?, ?, ?, ?, ?)",
        program_, tracker_, place_, attempt, step, now_ms_, text);
  });
}

}  // namespace trainward::courier
