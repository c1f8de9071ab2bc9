#include "supervisor/courier/jobs/uploads/upload_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace trainward::courier {
namespace {

using store::Connection;
using store::Row;

constexpr const char* last_seen = "request";
constexpr const char* place_key = "place";

Status put_memory(Connection& db, const std::string& program, const std::string& target,
                  const std::string& key, const std::string& value) {
  return db.run(
      "insert into upload_memory (program, target, key, value) values (?, ?, ?, ?) "
      "on conflict (program, target, key) do update set value = excluded.value",
      program, target, key, value);
}

// For metrics: rows are taken up again and change their state, but a counter never decreases.
Status add_to_total(Connection& db, const std::string& program, const std::string& target,
                    const std::string& total, std::int64_t more) {
  return db.run(
      "insert into upload_memory (program, target, key, value) values (?, ?, ?, ?4) "
      "on conflict (program, target, key) do update set value = value + ?4",
      program, target, total, more);
}

}  // namespace

Status UploadRows::lies_at(const std::string& place) {
  auto before = get(place_key);
  if (!before) return propagate(before);
  if (*before == place) return {};
  return journal_.transact([&](Connection& db) -> Status {
    if (*before) {
      if (auto ok = db.run(
              "update uploads set state = 'stale', saved_ms = 0, sent_bytes = 0, milestone = 0, "
              "check_error = '', checked_ms = 0, error = 'the target is another place now' "
              "where program = ? and target = ?",
              program_, target_);
          !ok) {
        return ok;
      }
      if (auto ok =
              db.run("delete from upload_memory where program = ? and target = ? and key <> ?",
                     program_, target_, std::string(last_seen));
          !ok) {
        return ok;
      }
    }
    return put_memory(db, program_, target_, place_key, place);
  });
}

Result<std::vector<upload::Known>> UploadRows::known() {
  std::vector<upload::Known> out;
  auto read = journal_.read([&](Connection& db) {
    return db.each(
        "select name, step, state, bytes, sent_bytes, saved_ms, began_ms, next_ms, tries, asked, "
        "milestone, check_error <> '' "
        "from uploads "
        "where program = ? and target = ? order by id",
        [&](const Row& row) {
          out.push_back({row.text(0), row.integer(1), row.text(2), row.integer(3), row.integer(4),
                         row.integer(5), row.integer(6), row.integer(7),
                         static_cast<int>(row.integer(8)), row.integer(9) != 0,
                         row.integer(10) != 0, row.integer(11) != 0});
        },
        program_, target_);
  });
  if (!read) return propagate(read);
  return out;
}

Result<Trouble> UploadRows::trouble() {
  Trouble out;
  auto read = journal_.read([&](Connection& db) {
    return db.each(
        "select error, next_ms from uploads where program = ?1 and target = ?2 and error <> '' "
        "and (state = 'failed' or (state in ('waiting', 'sending') and tries > 0)) "
        "and saved_ms > (select coalesce(max(saved_ms), -1) from uploads "
        "where program = ?1 and target = ?2 and state = 'done') order by saved_ms desc limit 1",
        [&](const Row& row) {
          out = {row.text(0), row.integer(1)};
        },
        program_, target_);
  });
  if (!read) return propagate(read);
  return out;
}

Result<UploadRows::Asked> UploadRows::asked() {
  auto seen = get(last_seen);
  if (!seen) return propagate(seen);
  const std::int64_t after = *seen ? std::strtoll((*seen)->c_str(), nullptr, 10) : 0;
  Asked out;
  out.last = after;
  auto read = journal_.read([&](Connection& db) {
    return db.each(
        "select id, what from upload_requests where id > ? and program in ('', ?) "
        "and target in ('', ?) order by id",
        [&](const Row& row) {
          out.last = row.integer(0);
          const std::string what = row.text(1);
          out.now |= what == "now";
          out.retry |= what == "retry";
          out.verify |= what == "verify";
        },
        after, program_, target_);
  });
  if (!read) return propagate(read);
  return out;
}

Status UploadRows::seen(std::int64_t request) { return put(last_seen, std::to_string(request)); }

Status UploadRows::begin(const Begun& begun) {
  const upload::Candidate& what = begun.what;
  return journal_.transact([&](Connection& db) -> Status {
    // A row that is taken up again after its end begins at that time.
    return db.run(
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
  });
}

Status UploadRows::progress(const upload::Candidate& what, std::int64_t bytes, std::int64_t sent,
                            std::int64_t bytes_per_second) {
  return journal_.transact([&](Connection& db) -> Status {
    std::int64_t before = sent;
    auto read = db.each(
        "select sent_bytes from uploads where program = ? and target = ? and name = ? and step = ?",
        [&](const Row& row) { before = row.integer(0); }, program_, target_, what.name, what.step);
    if (!read) return read;
    if (sent > before) {
      auto added = add_to_total(db, program_, target_, "total.sent_bytes", sent - before);
      if (!added) return added;
    }
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
        "error = '', tries = 0, next_ms = 0, asked = 0, checked_ms = 0, check_error = '' "
        "where program = ? and target = ? and name = ? and step = ?",
        at_ms, place, program_, target_, what.name, what.step);
  });
}

Status UploadRows::not_done(const upload::Candidate& what, const std::string& state,
                            const std::string& error, int tries, std::int64_t next_ms,
                            std::int64_t at_ms) {
  return journal_.transact([&](Connection& db) -> Status {
    if (!error.empty()) {
      if (auto added = add_to_total(db, program_, target_, "total.failures", 1); !added) {
        return added;
      }
    }
    return db.run(
        "update uploads set state = ?, error = ?, tries = ?, next_ms = ?, ended_ms = ?, "
        "bytes_per_second = 0 where program = ? and target = ? and name = ? and step = ?",
        state, error, tries, next_ms, at_ms, program_, target_, what.name, what.step);
  });
}

Status UploadRows::stale(const std::string& name, std::int64_t at_ms) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "update uploads set state = 'stale', ended_ms = ?, next_ms = 0, bytes_per_second = 0, "
        "error = '' "
        "where program = ? and target = ? and name = ? and state in ('sending', 'waiting', 'held', "
        "'failed')",
        at_ms, program_, target_, name);
  });
}

Status UploadRows::retry() {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "update uploads set state = 'waiting', tries = 0, next_ms = 0 where program = ? "
        "and target = ? and state in ('failed', 'waiting')",
        program_, target_);
  });
}

Status UploadRows::checked(const std::string& name, std::int64_t step, const std::string& error,
                           std::int64_t at_ms) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "update uploads set checked_ms = ?, check_error = ? "
        "where program = ? and target = ? and name = ? and step = ?",
        at_ms, error, program_, target_, name, step);
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
  return journal_.transact(
      [&](Connection& db) { return put_memory(db, program_, target_, key, value); });
}

Status UploadRows::forget(const std::string& prefix) {
  return journal_.transact([&](Connection& db) {
    return db.run(
        "delete from upload_memory where program = ?1 and target = ?2 "
        "and substr(key, 1, length(?3)) = ?3",
        program_, target_, prefix);
  });
}

std::string job_name(const std::string& program, const std::string& target) {
  return fmt::format("upload {}/{}", program, target);
}

Status measure_uploads(Journal& journal, std::vector<orders::Left::Job>& jobs) {
  return journal.read([&](Connection& db) {
    return db.each(
        "select program, target, sent_bytes, bytes from uploads "
        "where state in ('sending', 'waiting', 'held', 'failed') order by saved_ms",
        [&](const Row& row) {
          const std::string name = job_name(row.text(0), row.text(1));
          const auto job = std::ranges::find(jobs, name, &orders::Left::Job::name);
          if (job == jobs.end()) return;
          job->done = row.integer(2);
          job->of = row.integer(3);
        });
  });
}

Status ask_for_upload(Journal& journal, const std::string& what, const std::string& program,
                      const std::string& target, std::int64_t at_ms) {
  constexpr std::int64_t kept_ms = 86'400'000;
  return journal.transact([&](Connection& db) -> Status {
    if (auto ok = db.run("delete from upload_requests where at_ms < ?", at_ms - kept_ms); !ok) {
      return ok;
    }
    return db.run("insert into upload_requests (program, target, what, at_ms) values (?, ?, ?, ?)",
                  program, target, what, at_ms);
  });
}

}  // namespace trainward::courier
