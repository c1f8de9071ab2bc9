// The reading half of Store that the daemon uses: rows as values.
#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

template <typename R>
std::string select_from(std::string_view table, std::string_view rest) {
  return fmt::format("select {} from {} {}", columns<R>(), table, rest);
}

template <typename... Args>
Result<std::int64_t> one_integer(Connection& connection, const char* sql, const Args&... args) {
  std::int64_t value = 0;
  auto read = connection.each(
      sql, [&](const Row& row) { value = row.integer(0); }, args...);
  if (!read) return propagate(read);
  return value;
}

}  // namespace

Result<std::optional<std::string>> Store::boot_id() const {
  std::optional<std::string> id;
  auto read = impl_->connection->each("select boot_id from daemon where id = 1",
                                      [&](const Row& row) { id = row.text(0); });
  if (!read) return propagate(read);
  return id;
}

Result<std::vector<ProgramRow>> Store::programs() const {
  std::vector<ProgramRow> rows;
  auto read = impl_->connection->each(
      select_from<ProgramRow>("programs", "where not removed order by name"),
      [&](const Row& row) { rows.push_back(read_row<ProgramRow>(row)); });
  if (!read) return propagate(read);
  return rows;
}

Result<std::optional<ProgramRow>> Store::program(const std::string& name) const {
  std::optional<ProgramRow> found;
  auto read = impl_->connection->each(
      select_from<ProgramRow>("programs", "where name = ? and not removed"),
      [&](const Row& row) { found = read_row<ProgramRow>(row); }, name);
  if (!read) return propagate(read);
  return found;
}

Result<std::optional<ProgramRow>> Store::removed_program(const std::string& name) const {
  std::optional<ProgramRow> found;
  auto read = impl_->connection->each(
      select_from<ProgramRow>("programs", "where name = ? and removed"),
      [&](const Row& row) { found = read_row<ProgramRow>(row); }, name);
  if (!read) return propagate(read);
  return found;
}

Result<std::vector<AttemptRow>> Store::attempts(const std::string& program) const {
  std::vector<AttemptRow> rows;
  auto read = impl_->connection->each(
      select_from<AttemptRow>("attempts", "where program = ? order by number"),
      [&](const Row& row) { rows.push_back(read_row<AttemptRow>(row)); }, program);
  if (!read) return propagate(read);
  return rows;
}

Result<std::optional<AttemptRow>> Store::attempt(const std::string& program,
                                                 std::int64_t number) const {
  std::optional<AttemptRow> found;
  auto read = impl_->connection->each(
      select_from<AttemptRow>("attempts", "where program = ? and number = ?"),
      [&](const Row& row) { found = read_row<AttemptRow>(row); }, program, number);
  if (!read) return propagate(read);
  return found;
}

Result<std::optional<ProcessesRow>> Store::processes(const std::string& program,
                                                     std::int64_t attempt) const {
  std::optional<ProcessesRow> found;
  auto read = impl_->connection->each(
      select_from<ProcessesRow>("processes", "where program = ? and attempt = ?"),
      [&](const Row& row) { found = read_row<ProcessesRow>(row); }, program, attempt);
  if (!read) return propagate(read);
  return found;
}

Result<std::int64_t> Store::journal_offset(const std::string& program, std::int64_t attempt) const {
  return one_integer(*impl_->connection,
                     "select journal_offset from attempts where program = ? and number = ?",
                     program, attempt);
}

Result<std::int64_t> Store::newest_checkpoint(const std::string& program) const {
  return one_integer(
      *impl_->connection,
      "select coalesce(max(step), 0) from checkpoints where program = ? and state = 'verified'",
      program);
}

Result<std::int64_t> Store::first_attempt_ms(const std::string& program) const {
  return one_integer(
      *impl_->connection,
      "select coalesce(min(intended_ms), 0) from attempts where program = ? and intended_ms > 0",
      program);
}

Result<std::string> Store::board_record(const std::string& serial) const {
  std::string record;
  auto read = impl_->connection->each(
      "select record from board_records where serial = ?",
      [&](const Row& row) { record = row.text(0); }, serial);
  if (!read) return propagate(read);
  return record;
}

Result<std::int64_t> Store::highest_step(const std::string& program) const {
  return one_integer(*impl_->connection,
                     "select max(coalesce((select max(step) from steps where program = ?), 0), "
                     "coalesce((select max(last_step) from attempts where program = ?), 0))",
                     program, program);
}

Result<std::optional<std::int64_t>> Store::step_at(const std::string& program,
                                                   std::int64_t wall_ms) const {
  std::optional<std::int64_t> step;
  const auto take = [&](const Row& row) { step = row.integer(0); };
  // The times of an attempt's steps go up with them: the first that is old enough is the last one.
  auto read = impl_->connection->each(
      "select s.step from steps s where s.program = ?1 and s.at_ms < ?2 and s.attempt = "
      "(select max(number) from attempts where program = ?1 and intended_ms <= ?2) "
      "order by s.step desc limit 1",
      take, program, wall_ms);
  if (!read) return propagate(read);
  if (step) return step;
  // Its rows were thinned out: to within a bucket, as a step that it had surely done.
  read = impl_->connection->each(
      "select last_step from step_buckets where program = ?1 and level = -1 and last_ms < ?2 "
      "and last_attempt = (select max(number) from attempts where program = ?1 "
      "and intended_ms <= ?2) order by bucket desc limit 1",
      take, program, wall_ms);
  if (!read) return propagate(read);
  if (step) return step;
  read = impl_->connection->each(
      "select resume_step from attempts where program = ?1 and intended_ms <= ?2 "
      "order by number desc limit 1",
      take, program, wall_ms);
  if (!read) return propagate(read);
  if (step && *step == 0) step.reset();
  return step;
}

Result<std::int64_t> Store::step_rows(const std::string& program) const {
  return one_integer(*impl_->connection,
                     "select (select count(*) from steps where program = ?1) + coalesce((select "
                     "sum(rows) from step_buckets where program = ?1 and level = -1), 0)",
                     program);
}

Result<std::int64_t> Store::newest_ms() const {
  return one_integer(
      *impl_->connection,
      "select max(coalesce((select max(changed_ms) from programs), 0), "
      "coalesce((select at_ms from events order by id desc limit 1), 0), "
      "coalesce((select max((select s.at_ms from steps s where s.program = a.program "
      "and s.attempt = a.number order by s.step desc limit 1)) from attempts a "
      "where a.ended_ms = 0), 0))");
}

}  // namespace trainward::store
