#include "supervisor/record/store/curve/curve_attempts.hpp"

#include <algorithm>

#include "supervisor/record/store/rows/rows_json.hpp"

namespace trainward::store {
namespace {

struct Known {
  CurveAttempt attempt;
  bool told_to_resume = true;
  std::optional<std::int64_t> told_every;
};

// Of one that runs, or was cut off, the row does not hold its steps yet. Each end by a statement of
// its own: asked for both at once, SQLite looks at every step between them.
Status look_at_steps(Connection& db, const std::string& program, CurveAttempt& attempt) {
  return db.each(
      "select coalesce((select min(step) from steps where program = ?1 and attempt = ?2), 0), "
      "coalesce((select max(step) from steps where program = ?1 and attempt = ?2), 0)",
      [&](const Row& row) {
        if (attempt.first_step == 0) attempt.first_step = row.integer(0);
        attempt.last_step = std::max(attempt.last_step, row.integer(1));
      },
      program, attempt.attempt);
}

Result<std::int64_t> distance_of(Connection& db, const std::string& program, const Known& known) {
  if (known.told_every) return *known.told_every;
  std::int64_t distance = 1;
  auto read = db.each(
      "select step from steps where program = ? and attempt = ? and step < ? "
      "order by step desc limit 1",
      [&](const Row& row) { distance = known.attempt.last_step - row.integer(0); }, program,
      known.attempt.attempt, known.attempt.last_step);
  if (!read) return propagate(read);
  return distance;
}

// The step before the first, of steps that are told at a distance (see v_attempts).
std::int64_t before(std::int64_t first, std::int64_t last, std::int64_t distance) {
  return first - (first % distance == 0 && last % distance == 0 ? distance : 1);
}

// What an attempt of a program that finds its own place lost shows in where the next one began.
Status look_back(Connection& db, const std::string& program, std::vector<Known>& all) {
  std::int64_t next_first = 0;
  for (auto known = all.rbegin(); known != all.rend(); ++known) {
    CurveAttempt& attempt = known->attempt;
    const bool any = attempt.first_step > 0;
    if (!known->told_to_resume && attempt.last_step > 0) {
      auto distance = any && attempt.first_step != attempt.last_step
                          ? distance_of(db, program, *known)
                          : Result<std::int64_t>(1);
      if (!distance) return propagate(distance);
      if (any) attempt.resume_step = before(attempt.first_step, attempt.last_step, *distance);
      if (attempt.ended_ms > 0 && attempt.cause != "done" && next_first > 0) {
        attempt.steps_lost = std::max<std::int64_t>(
            attempt.last_step - before(next_first, attempt.last_step, *distance), 0);
      }
    }
    if (any) next_first = attempt.first_step;
  }
  return {};
}

}  // namespace

Result<std::vector<CurveAttempt>> curve_attempts(Connection& db, const std::string& program) {
  std::int64_t kept = 0;
  auto read = db.each(
      "select coalesce(max(step), 0) from checkpoints where program = ? and state = 'verified'",
      [&](const Row& row) { kept = row.integer(0); }, program);
  if (!read) return propagate(read);
  std::vector<Known> all;
  read = db.each(
      "select number, first_step, last_step, resume_step, kept_step, cause, board, "
      "coalesce(nullif(started_ms, 0), intended_ms), ended_ms, told_to_resume, told_every "
      "from attempts where program = ? order by number",
      [&](const Row& row) {
        Known known;
        CurveAttempt& attempt = known.attempt;
        attempt.attempt = row.integer(0);
        attempt.first_step = row.integer(1);
        attempt.last_step = row.integer(2);
        attempt.kept_step = row.integer(4);
        attempt.cause = row.text(5);
        attempt.board = row.text(6);
        attempt.began_ms = row.integer(7);
        attempt.ended_ms = row.integer(8);
        row.read(9, known.told_to_resume);
        row.read(10, known.told_every);
        const std::int64_t resumed = row.integer(3);
        if (known.told_to_resume) attempt.resume_step = resumed;
        all.push_back(std::move(known));
      },
      program);
  if (!read) return propagate(read);
  for (Known& known : all) {
    CurveAttempt& attempt = known.attempt;
    if (attempt.ended_ms == 0 || attempt.first_step == 0) {
      if (auto looked = look_at_steps(db, program, attempt); !looked) return propagate(looked);
    }
    if (attempt.ended_ms == 0) attempt.kept_step = std::max(attempt.kept_step, kept);
    const std::int64_t safe = std::max(attempt.kept_step, attempt.resume_step.value_or(0));
    const bool ended_well = !known.told_to_resume && attempt.cause == "done";
    const bool did_nothing = known.told_to_resume && attempt.last_step == 0;
    if (attempt.ended_ms == 0 || ended_well || did_nothing) attempt.steps_lost = 0;
    if (known.told_to_resume && attempt.ended_ms > 0 && attempt.last_step > 0) {
      attempt.steps_lost = std::max<std::int64_t>(attempt.last_step - safe, 0);
    }
  }
  if (auto looked = look_back(db, program, all); !looked) return propagate(looked);
  std::vector<CurveAttempt> attempts;
  attempts.reserve(all.size());
  for (Known& known : all) attempts.push_back(std::move(known.attempt));
  return attempts;
}

json::object to_json(const CurveAttempt& attempt) {
  return {{"attempt", attempt.attempt},     {"first_step", attempt.first_step},
          {"last_step", attempt.last_step}, {"resume_step", or_null(attempt.resume_step)},
          {"kept_step", attempt.kept_step}, {"steps_lost", or_null(attempt.steps_lost)},
          {"cause", attempt.cause},         {"board", attempt.board},
          {"began_ms", attempt.began_ms},   {"ended_ms", attempt.ended_ms}};
}

}  // namespace trainward::store
