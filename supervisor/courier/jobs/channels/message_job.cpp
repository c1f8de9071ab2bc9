// A channel that is told messages in their order.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "supervisor/courier/jobs/channels/carrier.hpp"
#include "supervisor/courier/jobs/channels/channel_job.hpp"
#include "supervisor/courier/jobs/channels/intake.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/courier/jobs/channels/values.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t given_up_after_ms = 24 * 3'600'000LL;
constexpr std::int64_t look_again_ms = 3'600'000;  // a commit of the daemon calls sooner

int weight(const std::string& tier) {
  if (tier == "critical") return 2;
  return tier == "warning" ? 1 : 0;
}

class MessageJob : public Job {
 public:
  MessageJob(const orders::Channel& channel, const ChannelContext& context)
      : channel_(channel),
        facts_(orders::facts(channel.kind)),
        context_(context),
        queue_(channel.name),
        pauses_(context.seed) {}

  [[nodiscard]] std::string name() const override { return "channel " + channel_.name; }
  [[nodiscard]] Trouble trouble() const override { return trouble_; }
  [[nodiscard]] bool owes() const override { return owes_; }

  Result<std::int64_t> work(const World& world) override;

 private:
  struct Choice {
    std::optional<Delivery> next;
    std::vector<Delivery> along;  // that are told with it
    std::int64_t call_ms = 0;     // when to look again, if nothing is `next`
    std::int64_t try_ms = 0;      // when what failed is tried again; 0: nothing is to be
  };

  Status recover(const World& world);
  Result<std::int64_t> turn(const World& world);
  Status see_way(const World& world, ChannelState& state);
  [[nodiscard]] static Choice choose(const std::vector<Delivery>& waiting,
                                     const ChannelState& state, const World& world);
  Result<std::int64_t> tell(const World& world, ChannelState& state, Choice choice);
  Status put_as(const World& world, Delivery delivery, std::string_view state, std::string why);
  Status mark(const World& world, ChannelState& state, Delivery& delivery,
              std::vector<Delivery> along);
  Status settle(const World& world, ChannelState& state, Delivery delivery, const Outcome& outcome,
                std::int64_t now_ms);
  [[nodiscard]] Outcome carry_message(const World& world, const store::MessageRow& row,
                                      const Delivery& delivery, bool plainly) const;
  [[nodiscard]] Outcome carry_plainly_too(const World& world, const store::MessageRow& row,
                                          const Delivery& delivery, Outcome outcome) const;

  orders::Channel channel_;
  const orders::KindFacts& facts_;
  ChannelContext context_;
  Queue queue_;
  Pauses pauses_;
  bool recovered_ = false;
  bool hurried_ = false;
  bool owes_ = true;
  Trouble trouble_;
};

// What is on its way when a call begins was sent by another process, or the journal did not take
// what came of it.
Status MessageJob::recover(const World& world) {
  if (recovered_) return {};
  return world.journal.transact(
      [&](store::Connection& db) { return queue_.recover(db, !facts_.dedupes, world.now_ms); });
}

// After a change of the secret or the address, earlier failures mean nothing. Once the box may be
// gone soon, nothing waits for its next try.
Status MessageJob::see_way(const World& world, ChannelState& state) {
  const bool hurries = world.leaving && !std::exchange(hurried_, true);
  const bool other = state.pause.tries > 0 && state.pause.way != way_of(channel_);
  if (!hurries && !other) return {};
  state.pause.end_unless_asked();
  return world.journal.transact([&](store::Connection& db) -> Status {
    if (auto hurried = queue_.hurry(db, world.now_ms); !hurried) return hurried;
    return queue_.put_state(db, state, facts_.name);
  });
}

// The oldest that is due, whatever is held back longer. After something that failed the whole
// channel pauses, so that the order stays; then the most urgent goes first.
MessageJob::Choice MessageJob::choose(const std::vector<Delivery>& waiting,
                                      const ChannelState& state, const World& world) {
  const std::int64_t now_ms = world.now_ms;
  Choice out;
  out.call_ms = now_ms + look_again_ms;
  std::vector<Delivery> due;
  bool urgent = false;
  for (const Delivery& delivery : waiting) {
    // Nobody would be there to tell it later.
    const bool hurries = world.leaving && delivery.tries == 0;
    const std::int64_t at = hurries ? now_ms : std::max(delivery.due_ms, delivery.next_ms);
    if (at <= now_ms) {
      due.push_back(delivery);
      urgent = urgent || (delivery.tier == "critical" && delivery.tries == 0);
    } else {
      out.call_ms = std::min(out.call_ms, at);
      if (delivery.tries > 0) out.try_ms = out.try_ms == 0 ? at : std::min(out.try_ms, at);
    }
  }
  const Pause& pause = state.pause;
  // Also where all that was refused waits for itself: its file may be replaced any minute.
  if (pause.lasts(now_ms) || (pause.tries > 0 && out.try_ms > 0)) {
    out.call_ms = std::min(out.call_ms, pause.look_ms(now_ms, urgent));
    if (!due.empty()) out.try_ms = pause.ends_ms(now_ms, urgent);
  }
  if (due.empty() || pause.ends_ms(now_ms, urgent) > now_ms) return out;
  const std::int64_t wait = state.bucket.wait_ms();
  // What was tried before has had its share.
  if (wait > 0) std::erase_if(due, [](const Delivery& one) { return one.tries == 0; });
  if (due.empty()) {
    out.call_ms = std::min(out.call_ms, now_ms + wait);
    return out;
  }
  const auto before = [&](const Delivery& a, const Delivery& b) {
    if (pause.tries == 0) return a.message < b.message;
    // One that is refused for what it says does not stand in the way of the others.
    const auto rank = [&](const Delivery& one) {
      return std::tuple(-weight(one.tier), pause.refused ? one.tries : 0, one.message);
    };
    return rank(a) < rank(b);
  };
  const Delivery& first = *std::min_element(due.begin(), due.end(), before);
  if (first.tries > 0 || state.bucket.hour >= 2 || due.size() == 1) {
    out.next = first;
    return out;
  }
  // The last of this hour's share speaks for all that wait: the most urgent, and of those the
  // newest.
  std::erase_if(due, [](const Delivery& delivery) { return delivery.tries > 0; });
  const auto chosen = std::max_element(due.begin(), due.end(), [](const auto& a, const auto& b) {
    return std::pair(weight(a.tier), a.message) < std::pair(weight(b.tier), b.message);
  });
  out.next = *chosen;
  for (auto other = due.begin(); other != due.end(); ++other) {
    if (other != chosen) out.along.push_back(*other);
  }
  return out;
}

Status MessageJob::put_as(const World& world, Delivery delivery, std::string_view state,
                          std::string why) {
  delivery.state = state;
  delivery.error = std::move(why);
  delivery.at_ms = world.now_ms;
  return world.journal.transact([&](store::Connection& db) { return queue_.put(db, delivery); });
}

// Before anything is sent, so that the next process knows that it may have been.
Status MessageJob::mark(const World& world, ChannelState& state, Delivery& delivery,
                        std::vector<Delivery> along) {
  if (delivery.tries == 0) state.bucket.take();
  delivery.state = delivery::sending;
  delivery.tries += 1;
  delivery.at_ms = world.now_ms;
  for (const Delivery& other : along) {
    delivery.more.push_back(other.title);
    delivery.more.insert(delivery.more.end(), other.more.begin(), other.more.end());
    delivery.more_count += 1 + other.more_count;
    // It is tried for as long as each of them would be.
    delivery.due_ms = std::max(delivery.due_ms, other.due_ms);
  }
  delivery.more.resize(std::min(delivery.more.size(), most_more));
  return world.journal.transact([&](store::Connection& db) -> Status {
    for (Delivery& other : along) {
      other.state = delivery::replaced;
      other.error = "told along with another message, as more than 20 came within an hour";
      other.at_ms = world.now_ms;
      if (auto put = queue_.put(db, other); !put) return put;
    }
    if (auto put = queue_.put(db, delivery); !put) return put;
    return queue_.put_state(db, state, facts_.name);
  });
}

Outcome MessageJob::carry_message(const World& world, const store::MessageRow& row,
                                  const Delivery& delivery, bool plainly) const {
  Message message =
      message_of({row.id, row.at_ms, row.episode, row.program, row.tier, row.kind, row.title},
                 row.message, context_.speaker, channel_.log_lines);
  message.more = delivery.more;
  message.more_count = delivery.more_count;
  if (plainly) message = in_plain(std::move(message));
  auto values = values_of(channel_);
  // What is missing or wrong on this machine may be put right at any time.
  if (!values) return {{Verdict::Kind::again, values.error().message(), {}}};
  auto call = call_of(channel_.kind, message, *values, world.now_ms);
  if (!call) return {{Verdict::Kind::again, call.error().message(), {}}};
  return carry(channel_.kind, *call, context_.network, world.stop, world.now_ms);
}

// What is critical and not understood is said once more in the plainest way there is.
Outcome MessageJob::carry_plainly_too(const World& world, const store::MessageRow& row,
                                      const Delivery& delivery, Outcome outcome) const {
  const bool of_a_program =
      channel_.kind == orders::ChannelKind::command || channel_.kind == orders::ChannelKind::mail;
  if (outcome.verdict.kind != Verdict::Kind::never || outcome.interrupted || of_a_program ||
      delivery.tier != "critical") {
    return outcome;
  }
  Outcome plain = carry_message(world, row, delivery, true);
  if (plain.verdict.kind == Verdict::Kind::never) return outcome;
  if (plain.verdict.kind == Verdict::Kind::taken) {
    plain.verdict.words = "its title and first lines alone: " + outcome.verdict.words;
  }
  return plain;
}

Status MessageJob::settle(const World& world, ChannelState& state, Delivery delivery,
                          const Outcome& outcome, std::int64_t now_ms) {
  const Verdict& verdict = outcome.verdict;
  delivery.at_ms = now_ms;
  delivery.error = verdict.words;
  if (verdict.kind == Verdict::Kind::taken) {
    delivery.state = delivery.in_doubt ? delivery::perhaps_twice : delivery::sent;
    state.failing_since_ms = 0;
    state.last_ok_ms = now_ms;
    state.error.clear();
    state.pause = {};
  } else {
    if (outcome.in_doubt && !facts_.dedupes) delivery.in_doubt = true;
    if (state.failing_since_ms == 0) state.failing_since_ms = now_ms;
    state.error = verdict.words;
    const bool late = now_ms - delivery.due_ms >= given_up_after_ms;
    if (verdict.kind != Verdict::Kind::never) {
      pauses_.fail(state.pause, verdict, way_of(channel_), now_ms);
    }
    if (verdict.kind == Verdict::Kind::never) {
      delivery.state = delivery::failed;
    } else if (late) {
      delivery.state = delivery::failed;
      delivery.error = "given up after a day: " + verdict.words;
    } else {
      delivery.state = delivery::waiting;
      delivery.next_ms = pauses_.next_ms(state.pause, delivery.tries, now_ms);
    }
  }
  return world.journal.transact([&](store::Connection& db) -> Status {
    if (auto put = queue_.put(db, delivery); !put) return put;
    return queue_.put_state(db, state, facts_.name);
  });
}

Result<std::int64_t> MessageJob::tell(const World& world, ChannelState& state, Choice choice) {
  auto row = message_row(world.store, choice.next->message);
  if (!row) return propagate(row);
  if (!*row || (*row)->dropped) {
    auto dropped = *row
                       ? put_as(world, *choice.next, delivery::skipped, "it was taken back")
                       : put_as(world, *choice.next, delivery::failed, "it is no longer on record");
    if (!dropped) return propagate(dropped);
    return world.now_ms;
  }
  Delivery delivery = std::move(*choice.next);
  if (auto marked = mark(world, state, delivery, std::move(choice.along)); !marked) {
    return propagate(marked);
  }
  fault_point("courier.channel_marked");
  const MonoTime began = now().mono;
  Outcome outcome = carry_message(world, **row, delivery, false);
  outcome = carry_plainly_too(world, **row, delivery, std::move(outcome));
  const std::int64_t ended_ms = world.now_ms + (now().mono - began);
  fault_point("courier.channel_carried");
  // As the journal has it: on its way, and perhaps there.
  if (outcome.interrupted && outcome.in_doubt) return world.now_ms;
  if (outcome.interrupted) {
    auto put = put_as(world, std::move(delivery), delivery::waiting, "");
    if (!put) return propagate(put);
    return world.now_ms;
  }
  if (auto settled = settle(world, state, std::move(delivery), outcome, ended_ms); !settled) {
    return propagate(settled);
  }
  return world.now_ms;  // at once, for the next
}

Result<std::int64_t> MessageJob::work(const World& world) {
  if (auto done = recover(world); !done) return propagate(done);
  auto result = turn(world);
  recovered_ = result.has_value();
  return result;
}

Result<std::int64_t> MessageJob::turn(const World& world) {
  ChannelState state;
  if (auto taken = take_in(world, channel_, queue_, state); !taken) return propagate(taken);
  if (auto seen = see_way(world, state); !seen) return propagate(seen);
  std::vector<Delivery> waiting;
  auto read = world.journal.read([&](store::Connection& db) -> Status {
    auto rows = queue_.waiting(db, world.now_ms);
    if (!rows) return propagate(rows);
    waiting = std::move(*rows);
    return {};
  });
  if (!read) return propagate(read);
  state.bucket = state.bucket.at(world.now_ms);
  owes_ = !waiting.empty();
  Choice choice = choose(waiting, state, world);
  trouble_ = state.failing_since_ms > 0 ? Trouble{state.error, choice.try_ms} : Trouble();
  if (!choice.next) return choice.call_ms;
  return tell(world, state, std::move(choice));
}

}  // namespace

std::unique_ptr<Job> make_message_job(const orders::Channel& channel,
                                      const ChannelContext& context) {
  return std::make_unique<MessageJob>(channel, context);
}

}  // namespace trainward::courier
