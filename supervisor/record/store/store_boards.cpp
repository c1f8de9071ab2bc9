// Boards: the newest look at each, and the samples taken while programs ran on them.
#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/rows/rows_json.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t day_ms = 24 * hour_ms;

// Of samples older than `older_than_ms` one for each `every_ms` stays.
struct Thinning {
  std::int64_t older_than_ms;
  std::int64_t every_ms;
};
constexpr Thinning thinnings[] = {{day_ms, 300'000}, {30 * day_ms, hour_ms}};
constexpr std::int64_t kept_for_ms = 400 * day_ms;

}  // namespace

Status Store::add_board_sample(const BoardSampleRow& row) {
  static const std::string sql =
      insert_sql<BoardSampleRow>("insert or replace into", "board_samples");
  return write_row(*impl_->connection, sql, row);
}

Status Store::thin_board_samples(const std::string& serial, std::int64_t now_ms) {
  Connection& db = *impl_->connection;
  auto done = db.run("delete from board_samples where serial = ? and at_ms < ?", serial,
                     now_ms - kept_for_ms);
  for (const Thinning& thinning : thinnings) {
    if (!done) break;
    // Whole intervals only, so that an interval is not thinned twice with another result. The
    // hottest stays: it is what somebody looks for.
    const std::int64_t before =
        (now_ms - thinning.older_than_ms) / thinning.every_ms * thinning.every_ms;
    done = db.run(
        "delete from board_samples where serial = ? and at_ms < ? and at_ms not in "
        "(select at_ms from (select at_ms, row_number() over (partition by at_ms / ? "
        "order by temperature_c desc, at_ms) as place from board_samples "
        "where serial = ? and at_ms < ?) where place = 1)",
        serial, before, thinning.every_ms, serial, before);
  }
  return done;
}

Result<std::string> Store::board_bus_id(const std::string& serial) const {
  std::string bus_id;
  auto read = impl_->connection->each(
      "select bus_id from boards where serial = ?", [&](const Row& row) { bus_id = row.text(0); },
      serial);
  if (!read) return propagate(read);
  return bus_id;
}

Result<json::array> Store::boards_json() const {
  return rows_json(
      *impl_->connection,
      "select b.serial, b.type, b.bus_id, b.verdict, b.reason, b.at_ms, "
      "strftime('%Y-%m-%dT%H:%M:%fZ', b.at_ms / 1000.0, 'unixepoch') as at, "
      "(select count(*) from attempts a where instr(',' || a.boards || ',', ',' || b.serial || "
      "',') > 0) as attempts, "
      "s.at_ms as sampled_ms, s.program, s.attempt, s.temperature_c, s.limit_c, s.power_w, "
      "s.voltage_v, s.current_a, s.clock_mhz, s.heartbeat, s.aer_correctable, s.aer_nonfatal, "
      "s.aer_fatal, "
      "coalesce(json_extract(r.record, '$.quarantined_until_wall_ms'), 0) as quarantined_until_ms, "
      "coalesce(json_extract(r.record, '$.reason'), '') as fault "
      "from boards b left join board_samples s on s.serial = b.serial and s.at_ms = "
      "(select max(n.at_ms) from board_samples n where n.serial = b.serial) "
      "left join board_records r on r.serial = b.serial and json_valid(r.record) "
      "order by b.serial");
}

Result<json::array> Store::board_samples_json(const std::string& serial, std::int64_t after_ms,
                                              int limit) const {
  Connection& db = *impl_->connection;
  const Snapshot snapshot(db);
  auto rows = after_ms >= 0
                  ? rows_json(db,
                              "select * from v_board_samples where serial = ? and at_ms > ? "
                              "order by at_ms limit ?",
                              serial, after_ms, limit)
                  : rows_json(db,
                              "select * from (select * from v_board_samples where serial = ? "
                              "order by at_ms desc limit ?) order by at_ms",
                              serial, limit);
  if (!rows || !rows->empty()) return rows;
  bool known = false;
  auto looked = db.each(
      "select 1 from boards where serial = ? union all select 1 from board_samples "
      "where serial = ? limit 1",
      [&](const Row&) { known = true; }, serial, serial);
  if (!looked) return propagate(looked);
  if (known) return rows;
  return fail(ErrorKind::usage, fmt::format("no such board: {}", serial), "",
              "trainwardctl boards lists them");
}

}  // namespace trainward::store
