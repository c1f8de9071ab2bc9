// The writing half of Store: one statement a method; atomicity is the caller's Transaction. Only a
// checkpoint is two, which are written together.
#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

// All of it or nothing, whether or not a transaction is open already.
template <typename Write>
Status together(Connection& db, Write write) {
  if (db.in_transaction()) return write(db);
  auto ok = db.run("begin immediate");
  if (ok) ok = write(db);
  if (ok) ok = db.run("commit");
  if (!ok) db.roll_back();
  return ok;
}

// Of the checkpoint that is about to be written: it counts as `state` now, and no longer as what it
// was before.
Status count_checkpoint(Connection& db, const std::string& program, const std::string& path,
                        const std::string& state) {
  return db.run(
      "update programs set verified = verified + (new = 'verified') - (old = 'verified'), "
      "corrupt = corrupt + (new = 'corrupt') - (old = 'corrupt'), "
      "pruned = pruned + (new = 'pruned') - (old = 'pruned') "
      "from (select ?3 as new, coalesce((select state from checkpoints "
      "where program = ?1 and path = ?2), '') as old) where name = ?1",
      program, path, state);
}

}  // namespace

Status Store::put_boot_id(const std::string& boot_id, std::int64_t at_ms) {
  return impl_->connection->run(
      "insert or replace into daemon (id, boot_id, started_ms) values (1, ?, ?)", boot_id, at_ms);
}

Status Store::put_program(const ProgramRow& row) {
  static const std::string sql = upsert_sql<ProgramRow>(
      "programs", {"name"},
      {{"changed_ms",
        "case when state = excluded.state then changed_ms else excluded.changed_ms end"},
       {"removed", "0"}});
  return write_row(*impl_->connection, sql, row);
}

Status Store::remove_program(const std::string& name) {
  return impl_->connection->run("update programs set removed = 1 where name = ?", name);
}

Status Store::put_attempt(const AttemptRow& row) {
  static const std::string sql = upsert_sql<AttemptRow>("attempts", {"program", "number"});
  return write_row(*impl_->connection, sql, row);
}

Status Store::put_processes(const ProcessesRow& row) {
  static const std::string sql = upsert_sql<ProcessesRow>("processes", {"program", "attempt"});
  return write_row(*impl_->connection, sql, row);
}

Status Store::set_journal_offset(const std::string& program, std::int64_t attempt,
                                 std::int64_t offset) {
  return impl_->connection->run(
      "update attempts set journal_offset = ? where program = ? and number = ?", offset, program,
      attempt);
}

Status Store::add_evidence(const std::string& program, std::int64_t attempt,
                           const EvidenceRow& row) {
  static const std::string sql =
      insert_sql<EvidenceRow>("insert into", "evidence", {"program", "attempt"});
  return write_row(*impl_->connection, sql, row, program, attempt);
}

Status Store::add_evaluation(const std::string& program, const EvaluationRow& row) {
  static const std::string sql =
      insert_sql<EvaluationRow>("insert or replace into", "evaluations", {"program"});
  return write_row(*impl_->connection, sql, row, program);
}

Status Store::add_sample(const std::string& program, const SampleRow& row) {
  static const std::string sql = insert_sql<SampleRow>("insert into", "samples", {"program"});
  if (auto added = write_row(*impl_->connection, sql, row, program); !added) return added;
  return impl_->connection->run(
      "delete from samples where program = ? and id <= (select id from samples where program = ? "
      "order by id desc limit 1 offset ?)",
      program, program, samples_kept);
}

// Sums count each step once, whatever windows overlap, and are those of one device.
Status Store::add_devices(const std::string& program, const std::vector<DeviceRow>& rows) {
  static const std::string sql = [] {
    const std::string fresh = "max(min(excluded.steps, excluded.step - devices.step), 0)";
    std::string text = insert_sql<DeviceRow>("insert into", "devices", {"program"});
    text += " on conflict (program, attempt, device) do update set ";
    bool first = true;
    boost::mp11::mp_for_each<Members<DeviceRow>>([&](auto member) {
      const std::string_view name = member.name;
      if (name == "attempt" || name == "device") return;
      std::string value = fmt::format("excluded.{}", name);
      if (name == "steps" || name.starts_with("total_")) {
        const std::string more =
            name == "steps" ? fresh : fmt::format("excluded.{} * {} / excluded.steps", name, fresh);
        value = fmt::format(
            "case when devices.name = excluded.name then devices.{} + {} else excluded.{} end",
            name, more, name);
      } else if (name == "step") {
        value = "max(excluded.step, devices.step)";
      }
      text += fmt::format("{}{} = {}", first ? "" : ", ", name, value);
      first = false;
    });
    return text;
  }();
  if (rows.empty()) return {};
  Connection& db = *impl_->connection;
  for (const DeviceRow& row : rows) {
    if (auto added = write_row(db, sql, row, program); !added) return added;
  }
  const std::int64_t attempt = rows.front().attempt;
  auto gone = db.run("delete from devices where program = ? and attempt = ? and device >= ?",
                     program, attempt, std::ssize(rows));
  if (!gone) return gone;
  return db.run("delete from devices where program = ? and attempt <= ?", program,
                attempt - attempts_with_devices);
}

Status Store::add_compiled(const std::string& program, const CompiledRow& row) {
  static const std::string sql = insert_sql<CompiledRow>("insert into", "compiled", {"program"});
  return write_row(*impl_->connection, sql, row, program);
}

Status Store::add_event(const EventRow& row) {
  static const std::string sql = insert_sql<EventRow>("insert into", "events");
  return write_row(*impl_->connection, sql, row);
}

Status Store::add_span(const std::string& program, const SpanRow& row) {
  static const std::string sql = insert_sql<SpanRow>("insert into", "ledger", {"program"});
  return write_row(*impl_->connection, sql, row, program);
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
  static const std::string sql =
      insert_sql<CheckpointRow>("insert or replace into", "checkpoints", {"program"});
  ++impl_->deliverable;
  return together(*impl_->connection, [&](Connection& db) {
    auto ok = count_checkpoint(db, program, row.path, row.state);
    return ok ? write_row(db, sql, row, program) : ok;
  });
}

Status Store::mark_checkpoint(const std::string& program, const std::string& path,
                              const std::string& state) {
  return together(*impl_->connection, [&](Connection& db) -> Status {
    bool known = false;
    auto ok = db.each(
        "select 1 from checkpoints where program = ? and path = ?",
        [&](const Row&) { known = true; }, program, path);
    if (!ok || !known) return ok;
    if (ok = count_checkpoint(db, program, path, state); !ok) return ok;
    return db.run("update checkpoints set state = ? where program = ? and path = ?", state, program,
                  path);
  });
}

}  // namespace trainward::store
