#include "supervisor/courier/jobs/channels/intake.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/courier/forms/form_message.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t at_a_time = 500;
// The daemon decides on messages before its courier runs for the first time.
constexpr std::int64_t already_new_ms = 120'000;
// This soon after the journal was recreated, a channel missing from it was in the old one.
constexpr std::int64_t already_known_ms = 600'000;
// Older messages are skipped: a channel absent for so long no longer wants them.
constexpr std::int64_t too_old_ms = 24 * 3'600'000LL;

json::object body_of(const store::MessageRow& row) {
  auto parsed = parse_json(row.message, "message");
  return parsed && parsed->is_object() ? std::move(parsed->get_object()) : json::object();
}

bool forgot(const World& world) {
  const std::int64_t made_ms = world.journal.made_after_damage_ms();
  return made_ms > 0 && world.now_ms - made_ms < already_known_ms;
}

Result<std::int64_t> first_cursor(const World& world) {
  const std::int64_t since_ms = world.now_ms - (forgot(world) ? too_old_ms : already_new_ms);
  auto newest = world.store.newest_messages(std::nullopt, at_a_time);
  if (!newest) return propagate(newest);
  std::int64_t cursor = 0;
  for (const store::MessageRow& row : *newest) {
    if (row.at_ms < since_ms) cursor = std::max(cursor, row.id);
  }
  return cursor;
}

class Intake {
 public:
  Intake(const World& world, const orders::Channel& channel, const Queue& queue,
         store::Connection& db)
      : world_(world), channel_(channel), queue_(queue), db_(db) {}

  Status add(const store::MessageRow& row) {
    if (row.dropped) return {};
    if (row.episode != 0) {
      if (auto settled = settle_taken_back(row.episode); !settled) return settled;
    }
    auto taken = is_taken(row);
    if (!taken) return propagate(taken);
    if (!*taken) return {};
    Delivery delivery;
    delivery.message = row.id;
    delivery.due_ms = row.not_before_ms;
    delivery.next_ms = row.not_before_ms;
    delivery.at_ms = world_.now_ms;
    delivery.episode = row.episode;
    delivery.tier = row.tier;
    delivery.kind = row.kind;
    delivery.program = row.program;
    delivery.title = cut(printable(row.title), longest_title);
    // The journal before this one may have had it as told.
    delivery.in_doubt = !orders::facts(channel_.kind).dedupes && forgot(world_) &&
                        row.at_ms < world_.journal.made_after_damage_ms();
    if (std::max(row.not_before_ms, row.at_ms) < world_.now_ms - too_old_ms) {
      delivery.state = delivery::skipped;
      delivery.error = "it was more than a day old when this channel could be told";
      return queue_.put(db_, delivery);
    }
    if (auto replaced = replace_older(row, delivery); !replaced) return replaced;
    if (auto replaced = replace_told(row); !replaced) return replaced;
    return queue_.put(db_, delivery);
  }

 private:
  Result<bool> is_taken(const store::MessageRow& row) {
    const auto& tiers = channel_.tiers;
    if (std::find(tiers.begin(), tiers.end(), row.tier) != tiers.end()) return true;
    if (row.episode == 0 || !bool_or(body_of(row), "resolves", false)) return false;
    return queue_.has_told(db_, row.episode);
  }

  // What was taken back was not told, so nobody has to hear that it is over.
  Status settle_taken_back(std::int64_t episode) {
    auto waiting = queue_.waiting(db_, world_.now_ms);
    if (!waiting) return propagate(waiting);
    for (Delivery& older : *waiting) {
      if (older.episode != episode) continue;
      auto row = message_row(world_.store, older.message);
      if (!row) return propagate(row);
      if (!*row || !(*row)->dropped) continue;
      older.state = delivery::skipped;
      older.error = "it was taken back";
      older.at_ms = world_.now_ms;
      if (auto put = queue_.put(db_, older); !put) return put;
    }
    return {};
  }

  Status replace_older(const store::MessageRow& row, Delivery& delivery) {
    if (row.episode == 0) return {};
    auto waiting = queue_.waiting(db_, world_.now_ms);
    if (!waiting) return propagate(waiting);
    for (Delivery& older : *waiting) {
      if (older.episode != row.episode) continue;
      older.state = delivery::replaced;
      older.error = "a newer message about the same took its place";
      older.at_ms = world_.now_ms;
      // What it was to tell along with itself is still to be told.
      delivery.more.insert(delivery.more.end(), older.more.begin(), older.more.end());
      delivery.more.resize(std::min(delivery.more.size(), most_more));
      delivery.more_count += older.more_count;
      if (auto put = queue_.put(db_, older); !put) return put;
    }
    return {};
  }

  // What the digest tells needs no message of its own, but for who is told what lasts.
  Status replace_told(const store::MessageRow& row) {
    if (row.episode != 0 || !orders::facts(channel_.kind).told_in_order) return {};
    const json::object body = body_of(row);
    const auto tells = get_array(body, "tells");
    if (!tells) return {};
    auto waiting = queue_.waiting(db_, world_.now_ms);
    if (!waiting) return propagate(waiting);
    for (Delivery& older : *waiting) {
      if (!contains(**tells, older.message)) continue;
      older.state = delivery::replaced;
      older.error = "the digest tells it";
      older.at_ms = world_.now_ms;
      if (auto put = queue_.put(db_, older); !put) return put;
    }
    return {};
  }

  static bool contains(const json::array& ids, std::int64_t id) {
    return std::any_of(ids.begin(), ids.end(), [id](const json::value& value) {
      return value.is_int64() && value.get_int64() == id;
    });
  }

  const World& world_;
  const orders::Channel& channel_;
  const Queue& queue_;
  store::Connection& db_;
};

}  // namespace

Result<std::optional<store::MessageRow>> message_row(const store::Store& store, std::int64_t id) {
  auto rows = store.messages_after(id - 1, 1);
  if (!rows) return propagate(rows);
  if (rows->empty() || rows->front().id != id) return std::optional<store::MessageRow>();
  return std::optional(std::move(rows->front()));
}

Status take_in(const World& world, const orders::Channel& channel, const Queue& queue,
               ChannelState& state) {
  const std::string_view kind = orders::facts(channel.kind).name;
  std::optional<ChannelState> known;
  auto read = world.journal.read([&](store::Connection& db) -> Status {
    auto found = queue.state(db);
    if (!found) return propagate(found);
    known = std::move(*found);
    return {};
  });
  if (!read) return read;
  if (known) {
    state = std::move(*known);
  } else {
    auto cursor = first_cursor(world);
    if (!cursor) return propagate(cursor);
    state = {};
    state.cursor = *cursor;
    state.bucket.at_ms = world.now_ms;
  }
  bool is_new = !known;
  while (true) {
    auto rows = world.store.messages_after(state.cursor, at_a_time);
    if (!rows) return propagate(rows);
    if (rows->empty() && !is_new) return {};
    auto added = world.journal.transact([&](store::Connection& db) -> Status {
      Intake intake(world, channel, queue, db);
      for (const store::MessageRow& row : *rows) {
        if (auto put = intake.add(row); !put) return put;
        state.cursor = row.id;
      }
      if (auto pruned = queue.prune(db, world.now_ms); !pruned) return pruned;
      return queue.put_state(db, state, kind);
    });
    if (!added) return added;
    is_new = false;
    if (static_cast<std::int64_t>(rows->size()) < at_a_time) return {};
  }
}

}  // namespace trainward::courier
