#include "supervisor/process/shim/message_pace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace trainward::shim {
namespace {

// How far what does not repeat may go beyond the bytes of its share.
constexpr double credit_bytes = 1024 * 1024;
// Of a record beside the message: its number, times and quotes.
constexpr std::size_t bytes_of_a_record = 80;

struct Kind {
  std::string_view key;
  bool repeats;
};

// By the first of these that a message has. A NaN or infinite loss ends the attempt,
// so such a step is kept apart from the others.
constexpr auto kinds = std::to_array<Kind>({{"CHECKPOINT", false},
                                            {"PHASE", false},
                                            {"RESUMED_STEP", false},
                                            {"TARGET_STEP", false},
                                            {"EVALUATED_STEP", false},
                                            {"EARLY_END", false},
                                            {"DATA_LEFT_OUT", false},
                                            {"CORRUPTION", false},
                                            {"SAMPLE_STEP", false},
                                            {"CACHE_HIT", false},
                                            {"CACHE_MISS", false},
                                            {"DEVICES", true},
                                            {"STEP", true}});
constexpr Kind anything_else{"", true};
constexpr Kind lost_loss{"LOSS", false};

Kind kind_for_pace(const Message& message) {
  for (const Kind& kind : kinds) {
    if (!find(message, kind.key)) continue;
    const auto loss = kind.repeats ? find_number(message, "LOSS") : std::nullopt;
    const bool lost = loss && !(std::abs(*loss) <= max_measure);
    return lost ? lost_loss : kind;
  }
  return anything_else;
}

// As the journal has it: bytes that JSON escapes take six.
std::size_t bytes_of(const Message& message) {
  std::size_t sum = bytes_of_a_record;
  for (const auto& [key, value] : message) {
    sum += key.size() + value.size() + 6;
    sum += 5 * static_cast<std::size_t>(std::count_if(value.begin(), value.end(),
                                                      [](unsigned char c) { return c < ' '; }));
  }
  return sum;
}

}  // namespace

bool MessagePace::may_pass(bool repeats) const {
  return repeats ? repeating_.has_one() && bytes_.above(0)
                 : single_.has_one() && bytes_.above(-credit_bytes);
}

void MessagePace::pass(const Waiting& one, const Keep& keep) {
  (one.repeats ? repeating_ : single_).take(1, 0);
  bytes_.take(static_cast<double>(one.bytes), -2 * credit_bytes);
  keep(one.message, one.at, one.stands_for);
}

void MessagePace::wait(Waiting one) {
  const auto older = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& other) { return other.kind == one.kind; });
  if (older != waiting_.end()) {
    if (left_out_++ == 0) left_out_since_ = older->at;
    one.stands_for += older->stands_for;
    waiting_.erase(older);
  }
  waiting_.push_back(std::move(one));
}

void MessagePace::offer(Message message, Time at, const Keep& keep) {
  look(at.mono, keep);
  const Kind kind = kind_for_pace(message);
  const std::size_t bytes = bytes_of(message);
  Waiting one{std::move(message), at, 1, kind.key, kind.repeats, bytes};
  if (!may_pass(kind.repeats)) return wait(std::move(one));
  // What came before it is written before it, and what it overtakes stands for it.
  finish(keep);
  pass(one, keep);
}

void MessagePace::look(MonoTime at, const Keep& keep) {
  for (TokenBucket* bucket : {&repeating_, &single_, &bytes_}) bucket->refill(at);
  const bool due = std::any_of(waiting_.begin(), waiting_.end(),
                               [this](const Waiting& one) { return may_pass(one.repeats); });
  if (due) finish(keep);
}

void MessagePace::finish(const Keep& keep) {
  const std::vector<Waiting> due = std::exchange(waiting_, {});
  for (const Waiting& one : due) pass(one, keep);
}

}  // namespace trainward::shim
