// Everything the core may ask for. Records are committed together with the state, first; then the
// side effects are carried out in order, and their results come back as events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/clock.hpp"

namespace trainward::core {

// ---- records ----
struct RecordEvent {
  std::string kind;
  std::string text;
};
struct RecordStep {
  std::int64_t step = 0;
  double loss = 0;
  double grad_norm = 0;
  std::int64_t tokens = 0;
  double tokens_per_second = 0;
  bool replayed = false;
};
struct RecordSpan {
  std::int64_t attempt = 0;
  std::string phase;
  std::string cause;
  std::int64_t begin_wall_ms = 0;
  std::int64_t duration_ms = 0;
};
struct Evidence {
  std::string source;
  int weight = 0;
  std::string cause;
  std::string text;
  std::string location;
};
// The attempt begins: committed before anything is forked.
struct RecordAttemptBegun {
  std::int64_t attempt = 0;
};
struct RecordWorkerStarted {
  std::int64_t pid = 0;
};
struct RecordAttemptEnded {
  std::int64_t attempt = 0;
  std::optional<int> code;
  std::optional<int> signal;
  std::string cause;
  std::string verdict;
  std::vector<Evidence> evidence;  // heaviest first
};
struct RecordCheckpoint {
  std::int64_t attempt = 0;
  std::string path;
  std::int64_t step = 0;
  std::uint64_t bytes = 0;
  std::string error;
};

// ---- side effects ----
struct Probe {};
struct SelectCheckpoint {};
struct Launch {
  std::int64_t attempt = 0;
  std::string board;
  std::string resume_from;
};
enum class Signal { terminate, kill };
struct SendSignal {
  Signal signal = Signal::terminate;
};
struct VerifyCheckpoint {
  std::int64_t attempt = 0;
  std::string path;
  std::int64_t step = 0;
};
struct PruneCheckpoints {};

using Action =
    std::variant<RecordEvent, RecordStep, RecordSpan, RecordAttemptBegun, RecordWorkerStarted,
                 RecordAttemptEnded, RecordCheckpoint, Probe, SelectCheckpoint, Launch, SendSignal,
                 VerifyCheckpoint, PruneCheckpoints>;
using Actions = std::vector<Action>;

}  // namespace trainward::core
