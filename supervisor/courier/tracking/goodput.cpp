#include "supervisor/courier/tracking/goodput.hpp"

#include <algorithm>

#include "common/base/json/json.hpp"

namespace trainward::tracking {
namespace {

constexpr std::int64_t at_a_time = 512;

}  // namespace

// As far as spans that begin after the moment asked for; what is booked later has begun later.
Status Goodput::read(const store::Store& store) {
  while (booked_until_ms_ <= at_ms_) {
    auto last = store.each_span(program_, last_id_, at_a_time, [&](const store::SpanRow& row) {
      booked_until_ms_ = row.begin_ms + row.duration_ms;
      ahead_.push_back(row);
    });
    if (!last) return propagate(last);
    if (*last == last_id_) break;
    last_id_ = *last;
  }
  std::erase_if(ahead_, [&](const store::SpanRow& span) {
    if (span.begin_ms + span.duration_ms > at_ms_) return false;
    ms_[span.phase] += span.duration_ms;
    return true;
  });
  return {};
}

// The span that goes on is in the state that the daemon has committed.
Status Goodput::add_open(const store::Store& store, std::map<std::string, std::int64_t>& ms) const {
  auto program = store.program(program_);
  if (!program) return propagate(program);
  if (!*program) return {};
  const auto state = parse_json((*program)->core_state, "state");
  if (!state || !state->is_object()) return {};
  const auto span = get_object(state->get_object(), "span");
  if (!span) return {};
  const auto since = get_object(**span, "since");
  if (!since) return {};
  const std::int64_t begin = int_or(**since, "wall_ms", at_ms_);
  if (begin < at_ms_) ms[string_or(**span, "phase", "")] += at_ms_ - begin;
  return {};
}

Result<std::optional<Goodput::Shares>> Goodput::until(const store::Store& store,
                                                      std::int64_t at_ms) {
  at_ms_ = std::max(at_ms_, at_ms);
  if (auto done = read(store); !done) return propagate(done);
  std::map<std::string, std::int64_t> ms = ms_;
  for (const store::SpanRow& span : ahead_) {
    if (span.begin_ms < at_ms_) ms[span.phase] += at_ms_ - span.begin_ms;
  }
  if (ahead_.empty()) {
    if (auto added = add_open(store, ms); !added) return propagate(added);
  }
  Shares shares;
  double total = 0;
  for (const auto& [phase, spent] : ms) {
    if (phase.empty()) continue;
    shares.seconds[phase] = static_cast<double>(spent) / 1000.0;
    total += shares.seconds[phase];
  }
  if (total <= 0) return std::nullopt;
  const auto stepping = shares.seconds.find("stepping");
  shares.effective = stepping == shares.seconds.end() ? 0.0 : stepping->second / total;
  return shares;
}

}  // namespace trainward::tracking
