// The writing half of Store: one statement a method; atomicity is the caller's Transaction.
#include "supervisor/store/store_impl.hpp"

namespace trainward::store {

Status Store::put_boot_id(const std::string& boot_id, std::int64_t at_ms) {
  return impl_->connection->run(
      "insert or replace into daemon (id, boot_id, started_ms) values (1, ?, ?)", boot_id, at_ms);
}

Status Store::put_program(const ProgramRow& row) {
  return impl_->connection->run(
      "insert into programs (name, state, reason, config_digest, core_state, changed_ms, "
      "target_step) values (?, ?, ?, ?, ?, ?, ?) "
      "on conflict (name) do update set state = excluded.state, reason = excluded.reason, "
      "config_digest = excluded.config_digest, core_state = excluded.core_state, "
      "changed_ms = case when state = excluded.state then changed_ms else excluded.changed_ms end, "
      "target_step = excluded.target_step, removed = 0",
      row.name, row.state, row.reason, row.config_digest, row.core_state, row.changed_ms,
      row.target_step);
}

Status Store::remove_program(const std::string& name) {
  return impl_->connection->run("update programs set removed = 1 where name = ?", name);
}

Status Store::put_attempt(const AttemptRow& row) {
  return impl_->connection->run(
      "insert into attempts (program, number, nonce, board, folder, intended_ms, started_ms, "
      "ended_ms, pid, resume_from, resume_step, first_step, last_step, kept_step, exit_code, "
      "exit_signal, cause, verdict, remedy, plan) "
      "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "on conflict (program, number) do update set nonce = excluded.nonce, "
      "board = excluded.board, folder = excluded.folder, intended_ms = excluded.intended_ms, "
      "started_ms = excluded.started_ms, ended_ms = excluded.ended_ms, pid = excluded.pid, "
      "resume_from = excluded.resume_from, resume_step = excluded.resume_step, "
      "first_step = excluded.first_step, last_step = excluded.last_step, "
      "kept_step = excluded.kept_step, exit_code = excluded.exit_code, "
      "exit_signal = excluded.exit_signal, cause = excluded.cause, verdict = excluded.verdict, "
      "remedy = excluded.remedy, plan = excluded.plan",
      row.program, row.number, row.nonce, row.board, row.folder, row.intended_ms, row.started_ms,
      row.ended_ms, row.pid, row.resume_from, row.resume_step, row.first_step, row.last_step,
      row.kept_step, row.exit_code, row.exit_signal, row.cause, row.verdict, row.remedy, row.plan);
}

Status Store::set_journal_offset(const std::string& program, std::int64_t attempt,
                                 std::int64_t offset) {
  return impl_->connection->run(
      "update attempts set journal_offset = ? where program = ? and number = ?", offset, program,
      attempt);
}

Status Store::add_evidence(const std::string& program, std::int64_t attempt,
                           const EvidenceRow& row) {
  return impl_->connection->run(
      "insert into evidence (program, attempt, source, weight, cause, text, location) "
      "values (?, ?, ?, ?, ?, ?, ?)",
      program, attempt, row.source, row.weight, row.cause, row.text, row.location);
}

Status Store::add_step(const std::string& program, const StepRow& row) {
  return impl_->connection->run(
      "insert or replace into steps (program, step, attempt, loss, grad_norm, tokens, "
      "tokens_per_second, at_ms, replayed) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      program, row.step, row.attempt, row.loss, row.grad_norm, row.tokens, row.tokens_per_second,
      row.at_ms, row.replayed ? 1 : 0);
}

Status Store::add_evaluation(const std::string& program, const EvaluationRow& row) {
  return impl_->connection->run(
      "insert or replace into evaluations (program, step, attempt, loss, at_ms) "
      "values (?, ?, ?, ?, ?)",
      program, row.step, row.attempt, row.loss, row.at_ms);
}

Status Store::add_compiled(const std::string& program, const CompiledRow& row) {
  return impl_->connection->run(
      "insert into compiled (program, attempt, name, key, hit, ms, dropped, at_ms) "
      "values (?, ?, ?, ?, ?, ?, ?, ?)",
      program, row.attempt, row.name, row.key, row.hit ? 1 : 0, row.ms, row.dropped, row.at_ms);
}

Status Store::add_event(const EventRow& row) {
  return impl_->connection->run(
      "insert into events (at_ms, program, attempt, kind, text) values (?, ?, ?, ?, ?)", row.at_ms,
      row.program, row.attempt, row.kind, row.text);
}

Status Store::add_span(const std::string& program, const SpanRow& row) {
  return impl_->connection->run(
      "insert into ledger (program, attempt, phase, cause, begin_ms, duration_ms) "
      "values (?, ?, ?, ?, ?, ?)",
      program, row.attempt, row.phase, row.cause, row.begin_ms, row.duration_ms);
}

Status Store::add_probe(std::int64_t at_ms, const std::string& source,
                        const std::string& report_json, std::int64_t duration_ms,
                        const std::string& error) {
  return impl_->connection->run(
      "insert into probes (at_ms, source, report, duration_ms, error) values (?, ?, ?, ?, ?)",
      at_ms, source, report_json, duration_ms, error);
}

Status Store::put_board(const std::string& serial, const std::string& type,
                        const std::string& bus_id, const std::string& verdict,
                        const std::string& reason, std::int64_t at_ms) {
  return impl_->connection->run(
      "insert or replace into boards (serial, type, bus_id, verdict, reason, at_ms) "
      "values (?, ?, ?, ?, ?, ?)",
      serial, type, bus_id, verdict, reason, at_ms);
}

Status Store::put_board_record(const std::string& serial, const std::string& record,
                               std::int64_t at_ms) {
  return impl_->connection->run(
      "insert or replace into board_records (serial, record, at_ms) values (?, ?, ?)", serial,
      record, at_ms);
}

Status Store::put_checkpoint(const std::string& program, const CheckpointRow& row) {
  return impl_->connection->run(
      "insert or replace into checkpoints (program, path, step, attempt, bytes, state, reason, "
      "at_ms) values (?, ?, ?, ?, ?, ?, ?, ?)",
      program, row.path, row.step, row.attempt, static_cast<std::int64_t>(row.bytes), row.state,
      row.reason, row.at_ms);
}

Status Store::mark_checkpoint(const std::string& program, const std::string& path,
                              const std::string& state) {
  return impl_->connection->run("update checkpoints set state = ? where program = ? and path = ?",
                                state, program, path);
}

}  // namespace trainward::store
