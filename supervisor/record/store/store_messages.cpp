// What people are told: messages, episodes and what is remembered of both.
#include <algorithm>

#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

// The first statement that begins with "select " + columns<R>().
template <typename R, typename... Args>
Result<std::vector<R>> rows_of(Connection& connection, const std::string& sql,
                               const Args&... args) {
  std::vector<R> rows;
  auto read = connection.each(
      sql, [&](const Row& row) { rows.push_back(read_row<R>(row)); }, args...);
  if (!read) return propagate(read);
  return rows;
}

std::string messages_where(std::string_view rest) {
  return fmt::format("select {} from outbox where {}", columns<MessageRow>(), rest);
}

}  // namespace

Result<std::int64_t> Store::new_id(std::int64_t now_ms) const {
  std::int64_t newest = 0;
  auto read = impl_->connection->each(
      "select max(coalesce((select seq from sqlite_sequence where name = 'outbox'), 0), "
      "coalesce((select max(id) from episodes), 0))",
      [&](const Row& row) { newest = row.integer(0); });
  if (!read) return propagate(read);
  return std::max(newest + 1, now_ms);
}

Result<std::int64_t> Store::add_message(const MessageRow& row) {
  static const std::string sql = insert_sql<MessageRow>("insert into", "outbox");
  ++impl_->deliverable;
  MessageRow own = row;
  if (own.id == 0) {
    auto id = new_id(row.at_ms);
    if (!id) return propagate(id);
    own.id = *id;
  }
  if (auto added = write_row(*impl_->connection, sql, own); !added) return propagate(added);
  return own.id;
}

Status Store::drop_message(std::int64_t id) {
  return impl_->connection->run("update outbox set dropped = 1 where id = ?", id);
}

Status Store::prune_messages(std::int64_t before_ms) {
  auto pruned = impl_->connection->run("delete from outbox where at_ms < ?", before_ms);
  if (!pruned) return pruned;
  return impl_->connection->run("delete from episodes where closed_ms > 0 and closed_ms < ?",
                                before_ms);
}

Status Store::put_episode(const EpisodeRow& row) {
  static const std::string sql = upsert_sql<EpisodeRow>("episodes", {"id"});
  return write_row(*impl_->connection, sql, row);
}

Status Store::put_telling(const std::string& program, const std::string& memory) {
  return impl_->connection->run("insert or replace into tellings (program, memory) values (?, ?)",
                                program, memory);
}

Result<std::vector<MessageRow>> Store::messages_after(std::int64_t id, std::int64_t limit) const {
  return rows_of<MessageRow>(*impl_->connection, messages_where("id > ? order by id limit ?"), id,
                             limit);
}

Result<std::vector<MessageRow>> Store::newest_messages(std::optional<std::int64_t> before,
                                                       std::int64_t limit) const {
  return rows_of<MessageRow>(*impl_->connection,
                             messages_where("(?1 is null or id < ?1) order by id desc limit ?2"),
                             before, limit);
}

Result<std::vector<MessageRow>> Store::messages_held_until(std::int64_t not_before_ms) const {
  return rows_of<MessageRow>(*impl_->connection,
                             messages_where("not dropped and not_before_ms >= ? order by id"),
                             not_before_ms);
}

Result<std::vector<EpisodeRow>> Store::open_episodes(const std::string& program) const {
  return rows_of<EpisodeRow>(
      *impl_->connection,
      fmt::format("select {} from episodes where program = ? and closed_ms = 0 order by id",
                  columns<EpisodeRow>()),
      program);
}

Result<std::string> Store::telling(const std::string& program) const {
  std::string memory;
  auto read = impl_->connection->each(
      "select memory from tellings where program = ?",
      [&](const Row& row) { memory = row.text(0); }, program);
  if (!read) return propagate(read);
  return memory;
}

Result<std::vector<std::pair<std::string, std::int64_t>>> Store::ends_since(
    const std::string& program, std::int64_t since_ms) const {
  std::vector<std::pair<std::string, std::int64_t>> ends;
  auto read = impl_->connection->each(
      "select cause, count(*) from attempts where program = ? and ended_ms >= ? and ended_ms > 0 "
      "group by cause order by count(*) desc, cause",
      [&](const Row& row) { ends.emplace_back(row.text(0), row.integer(1)); }, program, since_ms);
  if (!read) return propagate(read);
  return ends;
}

// A program may tell a loss only now and then.
Result<std::optional<double>> Store::loss_at(const std::string& program, std::int64_t step) const {
  std::optional<double> loss;
  auto read = impl_->connection->each(
      "select loss from (select loss, step, attempt from steps where program = ? and step <= ? "
      "order by step desc, attempt desc limit 64) where loss is not null limit 1",
      [&](const Row& row) { row.read(0, loss); }, program, step);
  if (!read) return propagate(read);
  return loss;
}

Result<std::optional<double>> Store::evaluation_before(const std::string& program,
                                                       std::int64_t before_ms) const {
  std::optional<double> loss;
  auto read = impl_->connection->each(
      "select loss from evaluations where program = ? and at_ms < ? "
      "order by attempt desc, step desc limit 1",
      [&](const Row& row) { row.read(0, loss); }, program, before_ms);
  if (!read) return propagate(read);
  return loss;
}

}  // namespace trainward::store
