#include "supervisor/courier/uploads/upload_rows.hpp"

namespace trainward::courier {
namespace {

using store::Connection;
using store::Row;

}  // namespace

Result<std::vector<upload::Known>> UploadRows::known() {
  std::vector<upload::Known> out;
  auto read = journal_.read([&](Connection& db) {
    return db.each(
        "select name, step, state, bytes, sent_bytes, saved_ms, began_ms, next_ms, tries, asked "
        "from uploads "
        "where program = ? and target = ? order by id",
        [&](const Row& row) {
          out.push_back({row.text(0), row.integer(1), row.text(2), row.integer(3), row.integer(4),
                         row.integer(5), row.integer(6), row.integer(7),
                         static_cast<int>(row.integer(8)), row.integer(9) != 0});
        },
        program_, target_);
  });
  if (!read) return propagate(read);
  return out;
}

Result<std::optional<std::int64_t>> UploadRows::asked() {
  std::optional<std::int64_t> at_ms;
  auto read = journal_.read([&](Connection& db) {
    return db.each(
        "select at_ms from upload_requests where program = ? and target = ?",
        [&](const Row& row) { at_ms = row.integer(0); }, program_, target_);
  });
  if (!read) return propagate(read);
  return at_ms;
}

Status UploadRows::forget_asked() {
  return journal_.transact([&](Connection& db) {
    return db.run("delete from upload_requests where program = ? and target = ?", program_,
                  target_);
  });
}

Status UploadRows::begin(const Begun& begun) {
  const upload::Candidate& what = begun.what;
  return journal_.transact([&](Connection& db) -> Status {
    // Taken up anew after its end: it begins then.
    auto put = db.run(
        "insert into uploads (program, target, name, step, path, state, saved_ms, began_ms, "
        "next_ms, milestone, asked) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "on conflict (program, target, name, step) do update set path = excluded.path, "
        "saved_ms = excluded.saved_ms, "
        "began_ms = iif(state in ('done', 'stale'), excluded.began_ms, began_ms), "
        "sent_bytes = iif(state in ('done', 'stale'), 0, sent_bytes), "
        "tries = iif(state in ('done', 'stale'), 0, tries), "
        "asked = iif(state in ('done', 'stale'), excluded.asked, max(asked, excluded.asked)), "
        "state = excluded.state, next_ms = excluded.next_ms, ended_ms = 0, bytes_per_second = 0, "
        "milestone = excluded.milestone",
        program_, target_, what.name, what.step, what.path, begun.state, what.at_ms, begun.at_ms,
        begun.next_ms, what.milestone, begun.asked);
    if (!put || begun.state != "sending") return put;
    return db.run("delete from upload_requests where program = ? and target = ?", program_,
                  target_);
  });
}

Status UploadRows::progress(const upload::Candidate& what, std::int64_t bytes, std::int64_t sent,
                            std::int64_t bytes_per_second) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "update uploads set tries = iif(?4 > sent_bytes, 0, tries), bytes = ?3, sent_bytes = ?4, "
        "bytes_per_second = ?5 where program = ?1 and target = ?2 and name = ?6 and step = ?7",
        program_, target_, bytes, sent, bytes_per_second, what.name, what.step);
  });
}

Status UploadRows::done(const upload::Candidate& what, const std::string& place,
                        std::int64_t at_ms) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "update uploads set state = 'done', sent_bytes = bytes, ended_ms = ?, place = ?, "
        "error = '', tries = 0, next_ms = 0, asked = 0 "
        "where program = ? and target = ? and name = ? and step = ?",
        at_ms, place, program_, target_, what.name, what.step);
  });
}

Status UploadRows::not_done(const upload::Candidate& what, const std::string& state,
                            const std::string& error, int tries, std::int64_t next_ms,
                            std::int64_t at_ms) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "update uploads set state = ?, error = ?, tries = ?, next_ms = ?, ended_ms = ?, "
        "bytes_per_second = 0 where program = ? and target = ? and name = ? and step = ?",
        state, error, tries, next_ms, at_ms, program_, target_, what.name, what.step);
  });
}

Status UploadRows::stale(const std::string& name, std::int64_t at_ms) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "update uploads set state = 'stale', ended_ms = ?, next_ms = 0, bytes_per_second = 0 "
        "where program = ? and target = ? and name = ? and state in ('sending', 'waiting', 'held')",
        at_ms, program_, target_, name);
  });
}

Result<std::optional<std::string>> UploadRows::get(const std::string& key) {
  std::optional<std::string> value;
  auto read = journal_.read([&](Connection& db) {
    return db.each(
        "select value from upload_memory where program = ? and target = ? and key = ?",
        [&](const Row& row) { value = row.text(0); }, program_, target_, key);
  });
  if (!read) return propagate(read);
  return value;
}

Status UploadRows::put(const std::string& key, const std::string& value) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "insert into upload_memory (program, target, key, value) values (?, ?, ?, ?) "
        "on conflict (program, target, key) do update set value = excluded.value",
        program_, target_, key, value);
  });
}

Status UploadRows::forget(const std::string& prefix) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "delete from upload_memory where program = ?1 and target = ?2 "
        "and substr(key, 1, length(?3)) = ?3",
        program_, target_, prefix);
  });
}

Status ask_for_upload(Journal& journal, const std::string& program, const std::string& target,
                      std::int64_t at_ms) {
  return journal.transact([&](Connection& db) {
    return db.run(
        "insert into upload_requests (program, target, at_ms) values (?, ?, ?) "
        "on conflict (program, target) do update set at_ms = excluded.at_ms",
        program, target, at_ms);
  });
}

Result<std::int64_t> retry_uploads(Journal& journal, const std::string& program,
                                   const std::string& target) {
  std::int64_t changed = 0;
  auto done = journal.transact([&](Connection& db) -> Status {
    const std::int64_t before = db.changes();
    auto set = db.run(
        "update uploads set state = 'waiting', tries = 0, next_ms = 0 where program = ? "
        "and target = ? and state in ('failed', 'waiting')",
        program, target);
    changed = db.changes() - before;
    return set;
  });
  if (!done) return propagate(done);
  return changed;
}

}  // namespace trainward::courier
