// A ping while all is well. It is the one channel that tells of a box that is dead: by silence.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/courier/jobs/channels/carrier.hpp"
#include "supervisor/courier/jobs/channels/channel_job.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/courier/jobs/channels/values.hpp"
#include "supervisor/courier/jobs/channels/wellness.hpp"

namespace trainward::courier {
namespace {

std::int64_t duration_of(const orders::Channel& channel, const char* key, std::int64_t otherwise) {
  const auto found = channel.durations_ms.find(key);
  return found == channel.durations_ms.end() ? otherwise : found->second;
}

class PingJob : public Job {
 public:
  PingJob(const orders::Channel& channel, const ChannelContext& context)
      : channel_(channel),
        context_(context),
        queue_(channel.name),
        pauses_(context.seed),
        every_ms_(duration_of(channel, "every", 60'000)),
        progress_within_ms_(duration_of(channel, "progress_within", 4 * 3'600'000LL)) {}

  [[nodiscard]] std::string name() const override { return "channel " + channel_.name; }
  [[nodiscard]] Trouble trouble() const override { return trouble_; }

  Result<std::int64_t> work(const World& world) override {
    // A commit of the daemon is no reason for another one.
    if (world.now_ms < next_ms_ && next_ms_ - world.now_ms <= every_ms_) return next_ms_;
    auto read = world.journal.read([&](store::Connection& db) -> Status {
      auto known = queue_.state(db);
      if (!known) return propagate(known);
      pause_ = known->value_or(ChannelState()).pause;
      return {};
    });
    if (!read) return propagate(read);
    const std::int64_t ends_ms = pause_.ends_ms(world.now_ms, false);
    if (ends_ms > world.now_ms) return ends_ms;
    auto well = wellness(world.store, world.now_ms, progress_within_ms_);
    if (!well) return propagate(well);
    if (!well->well) {
      next_ms_ = world.now_ms + every_ms_;
      pause_ = {};
      return record(world, 0, "not sent, as all is not well: " + well->words);
    }
    const Outcome outcome = ping(world, well->words);
    if (outcome.verdict.kind == Verdict::Kind::taken) {
      pause_ = {};
      next_ms_ = world.now_ms + every_ms_;
      return record(world, world.now_ms, "");
    }
    if (outcome.interrupted) return next_ms_;
    // Silence is an alarm, so it goes on also where it is refused.
    pauses_.fail(pause_, outcome.verdict, way_of(channel_), world.now_ms, every_ms_);
    next_ms_ = pause_.until_ms;
    return record(world, -1, outcome.verdict.words);
  }

 private:
  [[nodiscard]] Outcome ping(const World& world, const std::string& words) const {
    auto values = values_of(channel_);
    if (!values) return {{Verdict::Kind::again, values.error().message(), {}}};
    auto request = ping_request(*values, words);
    if (!request) return {{Verdict::Kind::again, request.error().message(), {}}};
    return carry(channel_.kind, *request, context_.network, world.stop, world.now_ms);
  }

  // `ok_ms`: when it was taken; 0: nobody was asked; -1: it was not taken.
  Result<std::int64_t> record(const World& world, std::int64_t ok_ms, const std::string& error) {
    auto put = world.journal.transact([&](store::Connection& db) -> Status {
      auto known = queue_.state(db);
      if (!known) return propagate(known);
      ChannelState state = known->value_or(ChannelState());
      if (ok_ms > 0) state.last_ok_ms = ok_ms;
      if (ok_ms >= 0) state.failing_since_ms = 0;
      if (ok_ms < 0 && state.failing_since_ms == 0) state.failing_since_ms = world.now_ms;
      state.error = error;
      state.pause = pause_;
      trouble_ = state.failing_since_ms > 0 ? Trouble{error, next_ms_} : Trouble();
      return queue_.put_state(db, state, orders::facts(channel_.kind).name);
    });
    if (!put) return propagate(put);
    return next_ms_;
  }

  orders::Channel channel_;
  ChannelContext context_;
  Queue queue_;
  Pauses pauses_;
  std::int64_t every_ms_;
  std::int64_t progress_within_ms_;
  std::int64_t next_ms_ = 0;
  Pause pause_;
  Trouble trouble_;
};

}  // namespace

std::unique_ptr<Job> make_ping_job(const orders::Channel& channel, const ChannelContext& context) {
  return std::make_unique<PingJob>(channel, context);
}

}  // namespace trainward::courier
