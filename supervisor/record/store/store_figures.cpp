// Figures for metrics: by key, or from where the last reading ended.
#include <algorithm>
#include <limits>

#include "supervisor/record/store/chosen_attempts.hpp"
#include "supervisor/record/store/figures.hpp"
#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// As read_row() reads it.
std::string told_sql(std::string_view which) {
  return fmt::format("select {} from steps {}", columns<StepRow>(), which);
}

const std::string& newest_rows() {
  static const std::string text =
      told_sql("where program = ? order by attempt desc, step desc limit ?");
  return text;
}

// Whether the newest row has what lines of a log often tell apart.
bool is_whole(const StepRow& row) {
  return std::ranges::all_of(step_figures, [&](const StepFigure& figure) {
    return !figure.often_apart || value_of(row, figure).has_value();
  });
}

void fill(StepRow& newest, const StepRow& before) {
  for (const StepFigure& figure : step_figures) {
    if (!figure.often_apart) continue;
    std::visit(
        [&](auto member) {
          if (!(newest.*member)) newest.*member = before.*member;
        },
        figure.member);
  }
}

// A span without a beginning does not count.
std::optional<ProgramNow::Open> open_span(const std::string& text) {
  const auto span = parse_json(text, "span");
  if (!span || !span->is_object()) return std::nullopt;
  const json::object& open = span->get_object();
  const auto since = get_object(open, "since");
  if (!since) return std::nullopt;
  return ProgramNow::Open{string_or(open, "phase", ""), string_or(open, "cause", ""),
                          Time{{int_or(**since, "wall_ms", 0)}, {int_or(**since, "mono_ms", 0)}}};
}

}  // namespace

// SQLite finds the little that is wanted of a state faster than all of it can be read.
// Where there is no state, or none that can be read, nothing is.
Result<std::vector<ProgramNow>> Store::programs_now() const {
  std::vector<ProgramNow> rows;
  auto read = impl_->connection->each(
      "select name, state, target_step, "
      "coalesce(json_extract(core, '$.wanted'), 0), "
      "json_extract(core, '$.span'), "
      "verified, corrupt, pruned from (select *, "
      "case when json_valid(core_state) then core_state end as core "
      "from programs where not removed) order by name",
      [&](const Row& row) {
        ProgramNow one;
        row.read(0, one.name);
        row.read(1, one.state);
        row.read(2, one.target_step);
        row.read(3, one.wanted);
        one.open = open_span(row.text(4));
        row.read(5, one.verified);
        row.read(6, one.corrupt);
        row.read(7, one.pruned);
        rows.push_back(std::move(one));
      });
  if (!read) return propagate(read);
  return rows;
}

// By the id: the index that has the groups in their order would be gone through from end to end.
Result<LedgerSums> Store::ledger_after(std::int64_t id) const {
  Connection& db = *impl_->connection;
  const Snapshot snapshot(db);
  LedgerSums all;
  all.newest_id = id;
  auto read = db.each(
      "select program, phase, cause, cast(min(total(duration_ms), 1e15) as integer), max(id) from "
      "ledger not indexed where id > "
      "? "
      "group by program, phase, cause",
      [&](const Row& row) {
        all.sums.push_back({row.text(0), row.text(1), row.text(2), row.integer(3)});
        all.newest_id = std::max(all.newest_id, row.integer(4));
      },
      id);
  if (!read) return propagate(read);
  if (all.newest_id == id) return all;
  // A bare column beside max() is of the row that has it.
  read = db.each(
      "select program, duration_ms, max(id) from ledger not indexed where id > ? "
      "and phase = 'saving' group by program",
      [&](const Row& row) { all.newest_save_ms[row.text(0)] = row.integer(1); }, id);
  if (!read) return propagate(read);
  return all;
}

Result<CompiledSums> Store::compiled_after(std::int64_t id) const {
  CompiledSums all;
  all.newest_id = id;
  auto read = impl_->connection->each(
      "select program, sum(hit <> 0), sum(hit = 0), max(id) from compiled not indexed where id > ? "
      "group by program",
      [&](const Row& row) {
        all.sums.push_back({row.text(0), row.integer(1), row.integer(2)});
        all.newest_id = std::max(all.newest_id, row.integer(3));
      },
      id);
  if (!read) return propagate(read);
  return all;
}

Result<std::vector<AttemptFigures>> Store::attempts_after(const std::string& program,
                                                          std::int64_t number) const {
  std::vector<AttemptFigures> rows;
  auto read = impl_->connection->each(
      "select number, coalesce(nullif(intended_ms, 0), started_ms), ended_ms > 0, told_to_resume, "
      "cause, resume_step, first_step, last_step, kept_step from attempts "
      "where program = ? and number > ? order by number",
      [&](const Row& row) {
        AttemptFigures one;
        row.read(0, one.number);
        row.read(1, one.begin_ms);
        row.read(2, one.ended);
        row.read(3, one.told_to_resume);
        row.read(4, one.cause);
        row.read(5, one.resume_step);
        row.read(6, one.first_step);
        row.read(7, one.last_step);
        row.read(8, one.kept_step);
        rows.push_back(std::move(one));
      },
      program, number);
  if (!read) return propagate(read);
  return rows;
}

Result<std::vector<StepsOfAttempt>> Store::steps_of_attempts(const std::string& program,
                                                             std::int64_t from,
                                                             std::int64_t to) const {
  const Snapshot snapshot(*impl_->connection);
  auto rows = chosen_attempts(*impl_->connection, program, from, to, no_limit);
  if (!rows) return propagate(rows);
  std::vector<StepsOfAttempt> steps;
  for (const json::value& value : *rows) {
    const json::object& row = value.as_object();
    StepsOfAttempt one;
    one.number = int_or(row, "attempt", 0);
    one.kept = int_or(row, "steps_kept", 0);
    if (const auto* lost = row.if_contains("steps_lost"); lost != nullptr && lost->is_int64()) {
      one.lost = lost->get_int64();
    }
    one.replayed = int_or(row, "steps_replayed", 0);
    steps.push_back(one);
  }
  std::ranges::reverse(steps);  // they came newest first
  return steps;
}

Result<std::optional<StepRow>> Store::newest_step(const std::string& program) const {
  std::optional<StepRow> newest;
  auto read = impl_->connection->each(
      newest_rows(), [&](const Row& row) { newest = read_row<StepRow>(row); }, program, 1);
  if (!read) return propagate(read);
  return newest;
}

Result<std::optional<StepRow>> Store::newest_told(const std::string& program) const {
  auto newest_one = newest_step(program);
  if (!newest_one) return newest_one;
  std::optional<StepRow> newest = *newest_one;
  if (!newest || is_whole(*newest)) return newest;
  // Not every line of a program tells all.
  auto read = impl_->connection->each(
      newest_rows(), [&](const Row& row) { fill(*newest, read_row<StepRow>(row)); }, program, 64);
  if (!read) return propagate(read);
  return newest;
}

Result<std::optional<StepRow>> Store::told_by(const std::string& program, std::int64_t attempt,
                                              FromEnd from, std::int64_t skip) const {
  // The index has the steps of an attempt in their order; only the row that is wanted is looked up.
  static const std::string text = told_sql(
      "where program = ?1 and attempt = ?2 and step = (select step from steps "
      "indexed by steps_by_attempt where program = ?1 and attempt = ?2 order by step ");
  static const std::string newest = text + "desc limit 1 offset ?3)";
  static const std::string oldest = text + "limit 1 offset ?3)";
  std::optional<StepRow> told;
  auto read = impl_->connection->each(
      from == FromEnd::newest ? newest : oldest,
      [&](const Row& row) { told = read_row<StepRow>(row); }, program, attempt, skip);
  if (!read) return propagate(read);
  return told;
}

Result<bool> Store::steps_were_thinned(const std::string& program) const {
  bool thinned = false;
  auto read = impl_->connection->each(
      "select 1 from step_buckets where program = ? and level = -1 limit 1",
      [&](const Row&) { thinned = true; }, program);
  if (!read) return propagate(read);
  return thinned;
}

Result<std::optional<KeptFigures>> Store::newest_kept(const std::string& program) const {
  std::optional<KeptFigures> kept;
  auto read = impl_->connection->each(
      "select step, bytes, at_ms from checkpoints where program = ? and state = 'verified' "
      "order by step desc limit 1",
      [&](const Row& row) {
        kept = KeptFigures{row.integer(0), row.integer(1), row.integer(2)};
      },
      program);
  if (!read) return propagate(read);
  return kept;
}

// Kept as null where it was no number.
Result<std::optional<double>> Store::newest_evaluation(const std::string& program) const {
  std::optional<double> loss;
  auto read = impl_->connection->each(
      "select loss from evaluations where program = ? order by attempt desc, step desc limit 1",
      [&](const Row& row) { loss = row.real(0); }, program);
  if (!read) return propagate(read);
  return loss;
}

Result<std::vector<ToldDevice>> Store::devices(const std::string& program,
                                               std::int64_t attempt) const {
  static const std::string sql =
      fmt::format("select {} from devices where program = ? and attempt = ? order by device",
                  columns<DeviceRow>());
  std::vector<ToldDevice> devices;
  auto read = impl_->connection->each(
      sql,
      [&](const Row& row) {
        const auto device = read_row<DeviceRow>(row);
        devices.push_back({device.name, static_cast<const DeviceFigures&>(device)});
      },
      program, attempt);
  if (!read) return propagate(read);
  return devices;
}

// What was measured while an attempt ran that has ended is not how the board is now; counters of
// errors stay as they are.
Result<std::vector<BoardRow>> Store::board_rows() const {
  std::vector<BoardRow> rows;
  auto read = impl_->connection->each(
      "select b.serial, b.type, b.bus_id, b.verdict, iif(a.ended_ms > 0, null, s.temperature_c), "
      "iif(a.ended_ms > 0, null, s.limit_c), iif(a.ended_ms > 0, null, s.power_w), "
      "iif(a.ended_ms > 0, null, s.clock_mhz), s.aer_correctable, s.aer_nonfatal, s.aer_fatal "
      "from boards b left join board_samples s on s.serial = b.serial and s.at_ms = "
      "(select max(n.at_ms) from board_samples n where n.serial = b.serial) "
      "left join attempts a on a.program = s.program and a.number = s.attempt order by b.serial",
      [&](const Row& row) {
        BoardRow one;
        row.read(0, one.serial);
        row.read(1, one.type);
        row.read(2, one.bus_id);
        row.read(3, one.verdict);
        row.read(4, one.temperature_c);
        row.read(5, one.limit_c);
        row.read(6, one.power_w);
        row.read(7, one.clock_mhz);
        row.read(8, one.aer_correctable);
        row.read(9, one.aer_nonfatal);
        row.read(10, one.aer_fatal);
        rows.push_back(std::move(one));
      });
  if (!read) return propagate(read);
  return rows;
}

}  // namespace trainward::store
