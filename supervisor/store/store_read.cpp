// The reading half of Store that the daemon uses: rows as values.
#include "supervisor/store/store_impl.hpp"

namespace trainward::store {
namespace {

constexpr const char* program_columns =
    "select name, state, reason, config_digest, core_state, changed_ms, target_step from programs";

constexpr const char* attempt_columns =
    "select program, number, nonce, board, folder, intended_ms, started_ms, ended_ms, pid, "
    "resume_from, resume_step, first_step, last_step, kept_step, exit_code, exit_signal, cause, "
    "verdict, remedy, plan from attempts";

ProgramRow program_of(const Row& row) {
  return {row.text(0), row.text(1),    row.text(2),   row.text(3),
          row.text(4), row.integer(5), row.integer(6)};
}

AttemptRow attempt_of(const Row& row) {
  AttemptRow result;
  result.program = row.text(0);
  result.number = row.integer(1);
  result.nonce = row.text(2);
  result.board = row.text(3);
  result.folder = row.text(4);
  result.intended_ms = row.integer(5);
  result.started_ms = row.integer(6);
  result.ended_ms = row.integer(7);
  result.pid = row.integer(8);
  result.resume_from = row.text(9);
  result.resume_step = row.integer(10);
  result.first_step = row.integer(11);
  result.last_step = row.integer(12);
  result.kept_step = row.integer(13);
  result.exit_code = row.optional_int(14);
  result.exit_signal = row.optional_int(15);
  result.cause = row.text(16);
  result.verdict = row.text(17);
  result.remedy = row.text(18);
  result.plan = row.text(19);
  return result;
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

Result<std::string> Store::boot_id() const {
  std::string id;
  auto read = impl_->connection->each("select boot_id from daemon where id = 1",
                                      [&](const Row& row) { id = row.text(0); });
  if (!read) return propagate(read);
  return id;
}

Result<std::vector<ProgramRow>> Store::programs() const {
  std::vector<ProgramRow> rows;
  auto read =
      impl_->connection->each(fmt::format("{} where not removed order by name", program_columns),
                              [&](const Row& row) { rows.push_back(program_of(row)); });
  if (!read) return propagate(read);
  return rows;
}

Result<std::optional<ProgramRow>> Store::program(const std::string& name) const {
  std::optional<ProgramRow> found;
  auto read = impl_->connection->each(
      fmt::format("{} where name = ? and not removed", program_columns),
      [&](const Row& row) { found = program_of(row); }, name);
  if (!read) return propagate(read);
  return found;
}

Result<std::vector<AttemptRow>> Store::attempts(const std::string& program) const {
  std::vector<AttemptRow> rows;
  auto read = impl_->connection->each(
      fmt::format("{} where program = ? order by number", attempt_columns),
      [&](const Row& row) { rows.push_back(attempt_of(row)); }, program);
  if (!read) return propagate(read);
  return rows;
}

Result<std::optional<AttemptRow>> Store::attempt(const std::string& program,
                                                 std::int64_t number) const {
  std::optional<AttemptRow> found;
  auto read = impl_->connection->each(
      fmt::format("{} where program = ? and number = ?", attempt_columns),
      [&](const Row& row) { found = attempt_of(row); }, program, number);
  if (!read) return propagate(read);
  return found;
}

Result<std::int64_t> Store::journal_offset(const std::string& program, std::int64_t attempt) const {
  return one_integer(*impl_->connection,
                     "select journal_offset from attempts where program = ? and number = ?",
                     program, attempt);
}

Result<std::int64_t> Store::newest_checkpoint(const std::string& program) const {
  return one_integer(*impl_->connection,
                     "select coalesce(max(step), 0) from checkpoints where program = ?", program);
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

Result<std::int64_t> Store::step_rows(const std::string& program) const {
  return one_integer(*impl_->connection, "select count(*) from steps where program = ?", program);
}

Result<std::int64_t> Store::newest_ms() const {
  return one_integer(
      *impl_->connection,
      "select max(coalesce((select max(changed_ms) from programs), 0), "
      "coalesce((select at_ms from events order by id desc limit 1), 0), "
      "coalesce((select max(s.at_ms) from attempts a join steps s "
      "on s.program = a.program and s.attempt = a.number where a.ended_ms = 0), 0))");
}

}  // namespace trainward::store
