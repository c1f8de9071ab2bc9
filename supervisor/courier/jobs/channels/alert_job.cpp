// Alertmanager: what lasts is told each minute, what is over for five more.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.hpp"
#include "common/os/fault_point.hpp"
#include "supervisor/courier/jobs/channels/carrier.hpp"
#include "supervisor/courier/jobs/channels/channel_job.hpp"
#include "supervisor/courier/jobs/channels/intake.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/courier/jobs/channels/values.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t again_ms = 60'000;
constexpr std::int64_t forgotten_ms =
    300'000;                                 // by Alertmanager, when it does not hear of it again
constexpr std::int64_t moment_ms = 600'000;  // of what does not last: so long it is shown
constexpr std::int64_t given_up_after_ms = 24 * 3'600'000LL;
constexpr std::int64_t look_again_ms = 3'600'000;
constexpr std::size_t most_alerts = 100;

struct Alert {
  std::string labels;
  std::int64_t message = 0;
  std::int64_t episode = 0;
  std::string program;
  std::string alert;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;  // 0: it lasts
};

class AlertJob : public Job {
 public:
  AlertJob(const orders::Channel& channel, const ChannelContext& context)
      : channel_(channel), context_(context), queue_(channel.name), pauses_(context.seed) {}

  [[nodiscard]] std::string name() const override { return "channel " + channel_.name; }
  [[nodiscard]] Trouble trouble() const override { return trouble_; }
  [[nodiscard]] bool owes() const override { return owes_; }

  Result<std::int64_t> work(const World& world) override;

 private:
  Status recover(const World& world);
  Result<std::int64_t> turn(const World& world);
  Result<std::vector<Delivery>> due(const World& world, std::int64_t& call_ms);
  Result<std::vector<Delivery>> apply(const World& world, std::vector<Delivery> deliveries);
  Status apply_one(const World& world, store::Connection& db, Delivery& delivery);
  Status raise(const World& world, store::Connection& db, const Message& message,
               std::int64_t message_id);
  Status end_others(store::Connection& db, std::int64_t episode, const std::string& labels,
                    std::int64_t now_ms);
  Status end_what_is_over(const World& world, const std::vector<Alert>& alerts);
  Result<std::vector<Alert>> alerts(const World& world);
  [[nodiscard]] Outcome post(const World& world, const std::vector<Alert>& alerts) const;
  Status settle(const World& world, ChannelState& state, std::vector<Delivery> deliveries,
                const Outcome& outcome);

  orders::Channel channel_;
  ChannelContext context_;
  Queue queue_;
  Pauses pauses_;
  bool recovered_ = false;
  bool hurried_ = false;
  bool owes_ = true;
  std::int64_t posted_ms_ = 0;  // tried last
  std::int64_t next_post_ms_ = 0;
  Trouble trouble_;
};

// What is on its way when a call begins was sent by another process, or the journal did not take
// what came of it. Alertmanager knows it again.
Status AlertJob::recover(const World& world) {
  if (recovered_) return {};
  return world.journal.transact(
      [&](store::Connection& db) { return queue_.recover(db, false, world.now_ms); });
}

Result<std::vector<Delivery>> AlertJob::due(const World& world, std::int64_t& call_ms) {
  std::vector<Delivery> out;
  auto read = world.journal.read([&](store::Connection& db) -> Status {
    auto waiting = queue_.waiting(db, world.now_ms);
    if (!waiting) return propagate(waiting);
    for (Delivery& delivery : *waiting) {
      const bool hurries = world.leaving && delivery.tries == 0;
      const std::int64_t at = hurries ? world.now_ms : std::max(delivery.due_ms, delivery.next_ms);
      if (at > world.now_ms) {
        call_ms = std::min(call_ms, at);
      } else if (out.size() < most_alerts) {
        out.push_back(std::move(delivery));
      }
    }
    return {};
  });
  if (!read) return propagate(read);
  return out;
}

Status AlertJob::end_others(store::Connection& db, std::int64_t episode, const std::string& labels,
                            std::int64_t now_ms) {
  return db.run(
      "update alerts set ended_ms = ?4 where channel = ?1 and episode = ?2 and labels <> ?3 and "
      "ended_ms = 0",
      channel_.name, episode, labels, now_ms);
}

Status AlertJob::raise(const World& world, store::Connection& db, const Message& message,
                       std::int64_t message_id) {
  const json::object alert = alert_of(message);
  const std::string labels = json::serialize(alert.at("labels"));
  if (message.episode != 0) {
    if (auto ended = end_others(db, message.episode, labels, world.now_ms); !ended) return ended;
  }
  const std::int64_t started = message.started_ms > 0 ? message.started_ms : message.at_ms;
  const std::int64_t ends = message.episode != 0 ? 0 : world.now_ms + moment_ms;
  return db.run(
      "insert into alerts (channel, labels, message, episode, program, alert, started_ms, "
      "ended_ms) "
      "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) on conflict (channel, labels) do update set "
      "message = excluded.message, program = excluded.program, alert = excluded.alert, "
      "started_ms = iif(episode = excluded.episode, started_ms, excluded.started_ms), "
      "episode = excluded.episode, ended_ms = excluded.ended_ms",
      channel_.name, labels, message_id, message.episode, message.program, json::serialize(alert),
      started, ends);
}

// Doing it again changes nothing: a try that fails is repeated with it.
Status AlertJob::apply_one(const World& world, store::Connection& db, Delivery& delivery) {
  delivery.at_ms = world.now_ms;
  auto row = message_row(world.store, delivery.message);
  if (!row) return propagate(row);
  if (!*row || (*row)->dropped) {
    delivery.state = *row ? delivery::skipped : delivery::failed;
    delivery.error = *row ? "it was taken back" : "it is no longer on record";
    return queue_.put(db, delivery);
  }
  const store::MessageRow& from = **row;
  const Message message = message_of(
      {from.id, from.at_ms, from.episode, from.program, from.tier, from.kind, from.title},
      from.message, context_.speaker, channel_.log_lines);
  const bool lasts = message.episode != 0;
  if (!lasts && message.tier == "info" && message.kind != "test") {
    delivery.state = delivery::skipped;
    delivery.error = "it tells of no trouble";
    return queue_.put(db, delivery);
  }
  if (lasts && message.resolves) {
    if (auto ended = end_others(db, message.episode, "", world.now_ms); !ended) return ended;
  } else if (auto raised = raise(world, db, message, from.id); !raised) {
    return raised;
  }
  delivery.state = delivery::sending;
  delivery.tries += 1;
  return queue_.put(db, delivery);
}

Result<std::vector<Delivery>> AlertJob::apply(const World& world,
                                              std::vector<Delivery> deliveries) {
  if (deliveries.empty()) return deliveries;
  auto done = world.journal.transact([&](store::Connection& db) -> Status {
    for (Delivery& delivery : deliveries) {
      if (auto applied = apply_one(world, db, delivery); !applied) return applied;
    }
    return {};
  });
  if (!done) return propagate(done);
  std::erase_if(deliveries,
                [](const Delivery& delivery) { return delivery.state != delivery::sending; });
  return deliveries;
}

Result<std::vector<Alert>> AlertJob::alerts(const World& world) {
  std::vector<Alert> out;
  auto read = world.journal.transact([&](store::Connection& db) -> Status {
    auto forgotten =
        db.run("delete from alerts where channel = ?1 and ended_ms > 0 and ended_ms < ?2",
               channel_.name, world.now_ms - forgotten_ms);
    if (!forgotten) return forgotten;
    return db.each(
        "select labels, message, episode, program, alert, started_ms, ended_ms from alerts "
        "where channel = ?1 order by message desc limit 100",
        [&](const store::Row& row) {
          out.push_back({row.text(0), row.integer(1), row.integer(2), row.text(3), row.text(4),
                         row.integer(5), row.integer(6)});
        },
        channel_.name);
  });
  if (!read) return propagate(read);
  return out;
}

// Also where no message said so: this channel may not take it, or it was never sent.
Status AlertJob::end_what_is_over(const World& world, const std::vector<Alert>& alerts) {
  for (const Alert& alert : alerts) {
    if (alert.episode == 0 || alert.ended_ms != 0) continue;
    auto open = world.store.open_episodes(alert.program);
    if (!open) return propagate(open);
    const bool lasts = std::any_of(open->begin(), open->end(), [&](const auto& episode) {
      return episode.id == alert.episode;
    });
    if (lasts) continue;
    auto ended = world.journal.transact([&](store::Connection& db) {
      return db.run("update alerts set ended_ms = ?3 where channel = ?1 and labels = ?2",
                    channel_.name, alert.labels, world.now_ms);
    });
    if (!ended) return ended;
  }
  return {};
}

Outcome AlertJob::post(const World& world, const std::vector<Alert>& alerts) const {
  json::array body;
  for (const Alert& alert : alerts) {
    auto parsed = parse_json(alert.alert, "alerts.alert");
    if (!parsed || !parsed->is_object()) continue;
    json::object object = std::move(parsed->get_object());
    object["startsAt"] = iso8601(alert.started_ms);
    object["endsAt"] = iso8601(alert.ended_ms != 0 ? alert.ended_ms : world.now_ms + forgotten_ms);
    body.push_back(std::move(object));
  }
  auto values = values_of(channel_);
  if (!values) return {{Verdict::Kind::again, values.error().message(), {}}};
  return carry(channel_.kind, alertmanager_request(body, *values), context_.network, world.stop,
               world.now_ms);
}

Status AlertJob::settle(const World& world, ChannelState& state, std::vector<Delivery> deliveries,
                        const Outcome& outcome) {
  const Verdict& verdict = outcome.verdict;
  const bool taken = verdict.kind == Verdict::Kind::taken;
  posted_ms_ = world.now_ms;
  next_post_ms_ = world.now_ms + again_ms;
  if (taken) {
    state.pause = {};
    state.last_ok_ms = world.now_ms;
    state.failing_since_ms = 0;
    state.error.clear();
  } else {
    if (state.failing_since_ms == 0) state.failing_since_ms = world.now_ms;
    state.error = verdict.words;
    // What it does not hear again it forgets, also when it refuses.
    pauses_.fail(state.pause, verdict, way_of(channel_), world.now_ms, again_ms);
    next_post_ms_ = state.pause.until_ms;
  }
  trouble_ = taken ? Trouble() : Trouble{state.error, next_post_ms_};
  return world.journal.transact([&](store::Connection& db) -> Status {
    for (Delivery& delivery : deliveries) {
      const bool late = world.now_ms - delivery.due_ms >= given_up_after_ms;
      delivery.error = verdict.words;
      delivery.next_ms = next_post_ms_;
      delivery.state = taken                                          ? delivery::sent
                       : late || verdict.kind == Verdict::Kind::never ? delivery::failed
                                                                      : delivery::waiting;
      if (auto put = queue_.put(db, delivery); !put) return put;
    }
    return queue_.put_state(db, state, orders::facts(channel_.kind).name);
  });
}

Result<std::int64_t> AlertJob::work(const World& world) {
  if (auto done = recover(world); !done) return propagate(done);
  auto result = turn(world);
  recovered_ = result.has_value();
  auto looked = world.journal.read([&](store::Connection& db) -> Status {
    auto waiting = queue_.waiting(db, world.now_ms);
    if (!waiting) return propagate(waiting);
    owes_ = !waiting->empty();
    return {};
  });
  if (!looked) return propagate(looked);
  return result;
}

Result<std::int64_t> AlertJob::turn(const World& world) {
  ChannelState state;
  if (auto taken = take_in(world, channel_, queue_, state); !taken) return propagate(taken);
  const bool hurries = world.leaving && !std::exchange(hurried_, true);
  if (hurries || (state.pause.tries > 0 && state.pause.way != way_of(channel_))) {
    state.pause.end_unless_asked();
    next_post_ms_ = 0;
  }
  // Whatever came meanwhile.
  if (const std::int64_t ends = state.pause.ends_ms(world.now_ms, false); ends > world.now_ms) {
    trouble_ = Trouble{state.error, ends};
    return state.pause.look_ms(world.now_ms, false);
  }
  std::int64_t call_ms = world.now_ms + look_again_ms;
  auto deliveries = due(world, call_ms);
  if (!deliveries) return propagate(deliveries);
  deliveries = apply(world, std::move(*deliveries));
  if (!deliveries) return propagate(deliveries);
  auto known = alerts(world);
  if (!known) return propagate(known);
  if (auto ended = end_what_is_over(world, *known); !ended) return propagate(ended);
  known = alerts(world);
  if (!known) return propagate(known);
  if (deliveries->empty() && known->empty()) return call_ms;
  // A clock that was set back is no reason to wait: what is not told again is forgotten.
  if (deliveries->empty() && world.now_ms < next_post_ms_ && world.now_ms >= posted_ms_) {
    return std::min(call_ms, next_post_ms_);
  }
  fault_point("courier.channel_marked");
  const Outcome outcome = known->empty() ? Outcome() : post(world, *known);
  fault_point("courier.channel_carried");
  if (outcome.interrupted) return world.now_ms;  // what is on its way is told again
  if (auto settled = settle(world, state, std::move(*deliveries), outcome); !settled) {
    return propagate(settled);
  }
  return std::min(call_ms, next_post_ms_);
}

}  // namespace

std::unique_ptr<Job> make_alert_job(const orders::Channel& channel, const ChannelContext& context) {
  return std::make_unique<AlertJob>(channel, context);
}

}  // namespace trainward::courier
