#include "supervisor/courier/base/courier_table.hpp"

namespace trainward::courier {

std::vector<std::string> courier_tables() {
  return {
      "create table if not exists jobs ("
      "  name     text primary key,"
      "  state    text not null,"  // working | failing
      "  since_ms integer not null,"
      "  error    text not null default '',"
      "  next_ms  integer not null default 0"
      ") strict"};
}

Status put_job(Journal& journal, const JobState& state) {
  return journal.transact([&](store::Connection& db) {
    return db.run(
        "insert into jobs (name, state, since_ms, error, next_ms) values (?1, ?2, ?3, ?4, ?5)"
        " on conflict (name) do update set"
        " since_ms = iif(state = excluded.state, since_ms, excluded.since_ms),"
        " state = excluded.state, error = excluded.error, next_ms = excluded.next_ms",
        state.name, std::string(state.fails ? "failing" : "working"), state.since_ms, state.error,
        state.next_ms);
  });
}

Status keep_jobs(Journal& journal, const std::set<std::string>& names) {
  return journal.transact([&](store::Connection& db) -> Status {
    std::vector<std::string> gone;
    auto read = db.each("select name from jobs", [&](const store::Row& row) {
      if (!names.contains(row.text(0))) gone.push_back(row.text(0));
    });
    if (!read) return read;
    for (const std::string& name : gone) {
      if (auto removed = db.run("delete from jobs where name = ?1", name); !removed) return removed;
    }
    return {};
  });
}

}  // namespace trainward::courier
