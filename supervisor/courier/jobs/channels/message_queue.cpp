#include "supervisor/courier/jobs/channels/message_queue.hpp"

#include <utility>

#include "common/base/json/json.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t kept_ms = 30 * 24 * 3'600'000LL;
constexpr std::int64_t set_back_ms = 60'000;  // what moves a clock less is no reason to hurry

std::string text_of(const std::vector<std::string>& titles) {
  json::array out;
  for (const std::string& title : titles) out.emplace_back(title);
  return json::serialize(out);
}

std::vector<std::string> titles_in(const std::string& text) {
  std::vector<std::string> out;
  const auto parsed = parse_json(text, "deliveries.more");
  if (!parsed || !parsed->is_array()) return out;
  for (const json::value& title : parsed->get_array()) {
    if (title.is_string()) out.emplace_back(title.get_string());
  }
  return out;
}

Delivery delivery_in(const store::Row& row) {
  Delivery out;
  out.message = row.integer(0);
  out.state = row.text(1);
  out.tries = static_cast<int>(row.integer(2));
  out.due_ms = row.integer(3);
  out.next_ms = row.integer(4);
  out.at_ms = row.integer(5);
  out.error = row.text(6);
  out.in_doubt = row.integer(7) != 0;
  out.episode = row.integer(8);
  out.tier = row.text(9);
  out.kind = row.text(10);
  out.program = row.text(11);
  out.title = row.text(12);
  out.more = titles_in(row.text(13));
  out.more_count = row.integer(14);
  return out;
}

}  // namespace

std::vector<std::string> channel_tables() {
  return {
      "create table if not exists channels ("
      "  channel          text primary key,"
      "  kind             text not null,"
      "  cursor           integer not null,"
      "  failing_since_ms integer not null default 0,"
      "  last_ok_ms       integer not null default 0,"
      "  error            text not null default '',"
      "  at_once          real not null,"  // channels/bucket.hpp
      "  hour             real not null,"
      "  level_ms         integer not null"
      ") strict",
      "create table if not exists deliveries ("
      "  channel    text not null,"
      "  message    integer not null,"
      "  state      text not null,"
      "  tries      integer not null default 0,"
      "  due_ms     integer not null default 0,"
      "  next_ms    integer not null default 0,"
      "  at_ms      integer not null,"
      "  error      text not null default '',"
      "  doubt      integer not null default 0,"
      "  episode    integer not null default 0,"
      "  tier       text not null default '',"
      "  kind       text not null default '',"
      "  program    text not null default '',"
      "  title      text not null default '',"
      "  more       text not null default '[]',"
      "  more_count integer not null default 0,"
      "  primary key (channel, message)"
      ") strict",
      "create index if not exists deliveries_by_state on deliveries (channel, state)",
      "create index if not exists deliveries_by_episode on deliveries (channel, episode)",
      // channels/pause.hpp
      "create table if not exists channel_pauses ("
      "  channel  text primary key,"
      "  tries    integer not null,"
      "  refused  integer not null,"
      "  set_ms   integer not null,"
      "  asked_ms integer not null,"
      "  until_ms integer not null,"
      "  way      text not null"
      ") strict",
      // How many there were of those that were pruned.
      "create table if not exists deliveries_gone ("
      "  channel text not null,"
      "  state   text not null,"
      "  count   integer not null,"
      "  primary key (channel, state)"
      ") strict",
      // What Alertmanager is told again while it lasts (channels/alert_job.cpp).
      "create table if not exists alerts ("
      "  channel    text not null,"
      "  labels     text not null,"  // JSON, by which it is known
      "  message    integer not null,"
      "  episode    integer not null,"
      "  program    text not null,"
      "  alert      text not null,"  // JSON
      "  started_ms integer not null,"
      "  ended_ms   integer not null default 0,"  // 0: it lasts
      "  primary key (channel, labels)"
      ") strict"};
}

Result<std::optional<ChannelState>> Queue::state(store::Connection& db) const {
  std::optional<ChannelState> out;
  auto read = db.each(
      "select cursor, failing_since_ms, last_ok_ms, error, at_once, hour, level_ms "
      "from channels where channel = ?1",
      [&](const store::Row& row) {
        out = ChannelState{row.integer(0), row.integer(1), row.integer(2), row.text(3),
                           Bucket{row.real(4), row.real(5), row.integer(6)}};
      },
      channel_);
  if (read && out) {
    read = db.each(
        "select tries, refused, set_ms, asked_ms, until_ms, way from channel_pauses "
        "where channel = ?1",
        [&](const store::Row& row) {
          out->pause = {static_cast<int>(row.integer(0)),
                        row.integer(1) != 0,
                        row.integer(2),
                        row.integer(3),
                        row.integer(4),
                        row.text(5)};
        },
        channel_);
  }
  if (!read) return propagate(read);
  return out;
}

Status Queue::put_state(store::Connection& db, const ChannelState& state,
                        std::string_view kind) const {
  const Pause& pause = state.pause;
  auto put = db.run(
      "insert or replace into channel_pauses (channel, tries, refused, set_ms, asked_ms, until_ms, "
      "way) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      channel_, pause.tries, pause.refused, pause.set_ms, pause.asked_ms, pause.until_ms,
      pause.way);
  if (!put) return put;
  return db.run(
      "insert into channels (channel, kind, cursor, failing_since_ms, last_ok_ms, error, at_once, "
      "hour, level_ms) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) on conflict (channel) do update "
      "set kind = excluded.kind, cursor = excluded.cursor, "
      "failing_since_ms = excluded.failing_since_ms, last_ok_ms = excluded.last_ok_ms, "
      "error = excluded.error, at_once = excluded.at_once, hour = excluded.hour, "
      "level_ms = excluded.level_ms",
      channel_, std::string(kind), state.cursor, state.failing_since_ms, state.last_ok_ms,
      state.error, state.bucket.at_once, state.bucket.hour, state.bucket.at_ms);
}

Status Queue::put(store::Connection& db, const Delivery& delivery) const {
  return db.run(
      "insert or replace into deliveries (channel, message, state, tries, due_ms, next_ms, at_ms, "
      "error, doubt, episode, tier, kind, program, title, more, more_count) values (?1, ?2, ?3, "
      "?4, "
      "?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
      channel_, delivery.message, delivery.state, delivery.tries, delivery.due_ms, delivery.next_ms,
      delivery.at_ms, delivery.error, delivery.in_doubt, delivery.episode, delivery.tier,
      delivery.kind, delivery.program, delivery.title, text_of(delivery.more), delivery.more_count);
}

Result<std::vector<Delivery>> Queue::waiting(store::Connection& db, std::int64_t now_ms) const {
  std::vector<Delivery> out;
  auto read = db.each(
      "select message, state, tries, due_ms, next_ms, at_ms, error, doubt, episode, tier, kind, "
      "program, title, more, more_count from deliveries where channel = ?1 and state = 'waiting' "
      "order by message limit 1000",
      [&](const store::Row& row) { out.push_back(delivery_in(row)); }, channel_);
  if (!read) return propagate(read);
  for (Delivery& delivery : out) {
    if (delivery.at_ms > now_ms + set_back_ms) delivery.due_ms = delivery.next_ms = now_ms;
  }
  return out;
}

Status Queue::recover(store::Connection& db, bool in_doubt, std::int64_t now_ms) const {
  return db.run(
      "update deliveries set state = 'waiting', next_ms = ?2, at_ms = ?2, doubt = max(doubt, ?3) "
      "where channel = ?1 and state = 'sending'",
      channel_, now_ms, in_doubt);
}

Status Queue::hurry(store::Connection& db, std::int64_t now_ms) const {
  return db.run(
      "update deliveries set next_ms = min(next_ms, ?2) where channel = ?1 and state = 'waiting'",
      channel_, now_ms);
}

Result<bool> Queue::has_told(store::Connection& db, std::int64_t episode) const {
  bool told = false;
  auto read = db.each(
      "select 1 from deliveries where channel = ?1 and episode = ?2 and "
      "state in ('waiting', 'sending', 'sent', 'perhaps_twice') limit 1",
      [&](const store::Row&) { told = true; }, channel_, episode);
  if (!read) return propagate(read);
  return told;
}

Status Queue::forget_others(store::Connection& db, const std::vector<std::string>& all,
                            const std::vector<std::string>& told, std::int64_t now_ms) {
  const std::string known = text_of(all);
  auto given_up = db.run(
      "update deliveries set state = 'skipped', at_ms = ?2, "
      "error = 'the channel was taken out of the configuration' "
      "where state in ('waiting', 'sending') and channel not in (select value from json_each(?1))",
      text_of(told), now_ms);
  if (!given_up) return given_up;
  auto forgotten =
      db.run("delete from alerts where channel not in (select value from json_each(?1))", known);
  if (!forgotten) return forgotten;
  forgotten = db.run(
      "delete from channel_pauses where channel not in (select value from json_each(?1))", known);
  if (!forgotten) return forgotten;
  return db.run("delete from channels where channel not in (select value from json_each(?1))",
                known);
}

Status Queue::prune(store::Connection& db, std::int64_t now_ms) const {
  auto counted = db.run(
      "insert into deliveries_gone (channel, state, count) "
      "select channel, state, count(*) from deliveries where channel = ?1 and at_ms < ?2 and "
      "state not in ('waiting', 'sending') group by 1, 2 "
      "on conflict (channel, state) do update set count = count + excluded.count",
      channel_, now_ms - kept_ms);
  if (!counted) return counted;
  return db.run(
      "delete from deliveries where channel = ?1 and at_ms < ?2 and "
      "state not in ('waiting', 'sending')",
      channel_, now_ms - kept_ms);
}

}  // namespace trainward::courier
