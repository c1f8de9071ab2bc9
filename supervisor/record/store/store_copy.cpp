// What copies a run elsewhere reads: row by row, so that a run of any length takes no more memory.
#include <limits>
#include <string_view>
#include <utility>

#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

// Each step as the newest attempt that did it saw it.
std::string curve_sql(std::string_view table, std::string_view selected) {
  return fmt::format(
      "select {1} from {0} c where c.program = ?1 and c.step > ?2 and c.step <= ?3 "
      "and c.attempt = (select max(n.attempt) from {0} n where n.program = c.program "
      "and n.step = c.step and n.attempt <= ?4) order by c.step limit ?5",
      table, selected);
}

struct TableSql {
  std::string_view selected;  // up to what chooses the program
  std::string_view program;   // the column that names it
  std::string_view order;
};

TableSql sql_of(Store::Table table) {
  switch (table) {
    case Store::Table::steps:
      return {"select * from v_steps", "program", "program, step"};
    case Store::Table::evaluations:
      return {"select program, step, attempt, loss, perplexity, at, times_done from v_evaluations",
              "program", "program, step"};
    case Store::Table::attempts:
      return {"select * from v_attempts", "program", "program, attempt"};
    case Store::Table::ledger:
      return {
          "select program, attempt, phase, cause, strftime('%Y-%m-%dT%H:%M:%fZ', "
          "begin_ms / 1000.0, 'unixepoch') as begin, duration_ms / 1000.0 as seconds "
          "from ledger",
          "program", "program, id"};
  }
  return {};
}

Store::Cell cell_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isNull()) return std::monostate{};
  return column.getString();
}

}  // namespace

Result<std::optional<AttemptRow>> Store::attempt_from(const std::string& program,
                                                      std::int64_t number) const {
  static const std::string sql = fmt::format(
      "select {} from attempts where program = ? and number >= ? order by number limit 1",
      columns<AttemptRow>());
  std::optional<AttemptRow> found;
  auto read = impl_->connection->each(
      sql, [&](const Row& row) { found = read_row<AttemptRow>(row); }, program, number);
  if (!read) return propagate(read);
  return found;
}

Result<std::optional<AttemptRow>> Store::newest_attempt(const std::string& program) const {
  static const std::string sql =
      fmt::format("select {} from attempts where program = ? order by number desc limit 1",
                  columns<AttemptRow>());
  std::optional<AttemptRow> found;
  auto read = impl_->connection->each(
      sql, [&](const Row& row) { found = read_row<AttemptRow>(row); }, program);
  if (!read) return propagate(read);
  return found;
}

Result<std::optional<std::int64_t>> Store::first_step_of(const std::string& program,
                                                         std::int64_t attempt) const {
  std::optional<std::int64_t> first;
  auto read = impl_->connection->each(
      "select step from steps where program = ? and attempt = ? order by step limit 1",
      [&](const Row& row) { first = row.integer(0); }, program, attempt);
  if (!read) return propagate(read);
  return first;
}

// Left to itself SQLite goes by the primary key here, over the steps of all later attempts.
Status Store::each_step(const std::string& program, std::int64_t attempt, std::int64_t after,
                        std::int64_t limit, const std::function<void(const StepRow&)>& take) const {
  static const std::string sql = fmt::format(
      "select {} from steps indexed by steps_by_attempt "
      "where program = ? and attempt = ? and step > ? order by step limit ?",
      columns<StepRow>());
  return impl_->connection->each(
      sql, [&](const Row& row) { take(read_row<StepRow>(row)); }, program, attempt, after, limit);
}

Status Store::each_evaluation(const std::string& program, std::int64_t attempt, std::int64_t after,
                              const std::function<void(const EvaluationRow&)>& take) const {
  static const std::string sql = fmt::format(
      "select {} from evaluations indexed by evaluations_by_attempt "
      "where program = ? and attempt = ? and step > ? order by step",
      columns<EvaluationRow>());
  return impl_->connection->each(
      sql, [&](const Row& row) { take(read_row<EvaluationRow>(row)); }, program, attempt, after);
}

Status Store::each_curve_step(const std::string& program, const CurveRange& range,
                              std::int64_t limit,
                              const std::function<void(const StepRow&)>& take) const {
  static const std::string sql = curve_sql("steps", columns<StepRow>());
  return impl_->connection->each(
      sql, [&](const Row& row) { take(read_row<StepRow>(row)); }, program, range.after, range.last,
      range.newest_attempt, limit);
}

Status Store::each_curve_evaluation(const std::string& program, const CurveRange& range,
                                    const std::function<void(const EvaluationRow&)>& take) const {
  static const std::string sql = curve_sql("evaluations", columns<EvaluationRow>());
  return impl_->connection->each(
      sql, [&](const Row& row) { take(read_row<EvaluationRow>(row)); }, program, range.after,
      range.last, range.newest_attempt, std::numeric_limits<std::int64_t>::max());
}

Result<std::optional<std::int64_t>> Store::evaluated_before(const std::string& program,
                                                            std::int64_t attempt,
                                                            std::int64_t step) const {
  std::optional<std::int64_t> found;
  auto read = impl_->connection->each(
      "select step from evaluations where program = ? and attempt < ? and step < ? "
      "order by step desc limit 1",
      [&](const Row& row) { found = row.integer(0); }, program, attempt, step);
  if (!read) return propagate(read);
  return found;
}

// No index has the spans of a program in the order they were booked: to ask for that would sort all
// of them each time.
Result<std::int64_t> Store::each_span(const std::string& program, std::int64_t after,
                                      std::int64_t limit,
                                      const std::function<void(const SpanRow&)>& take) const {
  std::int64_t last = after;
  auto read = impl_->connection->each(
      "select id, program = ?, attempt, phase, cause, begin_ms, duration_ms from ledger "
      "where id > ? order by id limit ?",
      [&](const Row& row) {
        last = row.integer(0);
        if (row.integer(1) == 0) return;
        take({row.integer(2), row.text(3), row.text(4), row.integer(5), row.integer(6)});
      },
      program, after, limit);
  if (!read) return propagate(read);
  return last;
}

Result<std::vector<std::string>> Store::boards_of(const std::string& program) const {
  std::vector<std::string> serials;
  auto read = impl_->connection->each(
      "select distinct serial from board_samples where program = ? order by serial",
      [&](const Row& row) { serials.push_back(row.text(0)); }, program);
  if (!read) return propagate(read);
  return serials;
}

Result<std::optional<BoardSampleRow>> Store::newest_board_sample(const std::string& serial,
                                                                 const std::string& program,
                                                                 std::int64_t attempt,
                                                                 std::int64_t after_ms,
                                                                 std::int64_t up_to_ms) const {
  static const std::string sql = fmt::format(
      "select {} from board_samples where serial = ? and at_ms > ? and at_ms <= ? "
      "and program = ? and attempt = ? order by at_ms desc limit 1",
      columns<BoardSampleRow>());
  std::optional<BoardSampleRow> found;
  auto read = impl_->connection->each(
      sql, [&](const Row& row) { found = read_row<BoardSampleRow>(row); }, serial, after_ms,
      up_to_ms, program, attempt);
  if (!read) return propagate(read);
  return found;
}

Result<bool> Store::has_checkpoints(const std::string& program) const {
  bool any = false;
  auto read = impl_->connection->each(
      "select 1 from checkpoints where program = ? and state in ('verified', 'pruned') limit 1",
      [&](const Row&) { any = true; }, program);
  if (!read) return propagate(read);
  return any;
}

Result<std::optional<Store::Origin>> Store::origin(const std::string& program) const {
  std::optional<Origin> found;
  std::int64_t number = 0;
  bool shows_it = false;  // by its first step
  auto read = impl_->connection->each(
      "with restored as ("
      "  select max(at_ms) as at_ms from events where program = ?1 and kind = 'restored'"
      "), placed as ("
      "  select number, nonce, told_to_resume, resume_from, resume_step, source, intended_ms,"
      "         max(max(last_step, kept_step)) over earlier as before,"
      "         max(intended_ms) over earlier as before_ms"
      "  from attempts where program = ?1"
      "  window earlier as (order by number rows between unbounded preceding and 1 preceding)"
      "), judged as ("
      "  select number, nonce, told_to_resume, resume_from, resume_step, source, before,"
      "         coalesce(at_ms > coalesce(before_ms, 0) and at_ms <= intended_ms, 0) as restored"
      "  from placed, restored) "
      "select number, nonce, restored or (told_to_resume and resume_from <> ''),"
      "       not restored and not told_to_resume "
      "from judged "
      "where before is null or restored"
      "   or (told_to_resume and source <> 'memory' and (resume_from = '' or resume_step > "
      "before)) "
      "order by number desc limit 1",
      [&](const Row& row) {
        number = row.integer(0);
        found = Origin{row.text(1), row.integer(2) != 0};
        shows_it = row.integer(3) != 0;
      },
      program);
  if (!read) return propagate(read);
  if (!found || !shows_it) return found;
  auto rows = newest_attempts_json(program, number + 1, 1);
  if (!rows) return propagate(rows);
  const json::object* attempt = rows->empty() ? nullptr : rows->front().if_object();
  // As long as no step is known, nobody knows.
  found->goes_on = attempt == nullptr || int_or(*attempt, "resume_step", 1) > 0;
  return found;
}

// Of a row that has nothing: there may be none.
Result<std::vector<std::string>> Store::names_of(Table table) const {
  std::vector<std::string> names;
  auto read = impl_->connection->each(
      fmt::format("select t.* from (select 1) left join ({} limit 0) t on true",
                  sql_of(table).selected),
      [&](const Row& row) {
        SQLite::Statement& statement = row.statement();
        for (int i = 0; i < statement.getColumnCount(); ++i) {
          names.emplace_back(statement.getColumnName(i));
        }
      });
  if (!read) return propagate(read);
  return names;
}

Status Store::each_row(Table table, const std::string& program, const TakeRow& take) const {
  const TableSql sql = sql_of(table);
  std::vector<std::string> names;
  std::vector<Cell> cells;
  const auto on_row = [&](const Row& row) {
    SQLite::Statement& statement = row.statement();
    const int count = statement.getColumnCount();
    cells.clear();
    for (int i = 0; i < count; ++i) {
      const SQLite::Column column = statement.getColumn(i);
      if (static_cast<int>(names.size()) < count) names.emplace_back(column.getName());
      cells.push_back(cell_of(column));
    }
    return take(names, cells);
  };
  Connection& db = *impl_->connection;
  if (program.empty()) {
    return db.each(fmt::format("{} order by {}", sql.selected, sql.order), on_row);
  }
  return db.each(fmt::format("{} where {} = ? order by {}", sql.selected, sql.program, sql.order),
                 on_row, program);
}

}  // namespace trainward::store
