// What a model in training said to a prompt, as a message of the worker protocol.
//
//   SAMPLE_STEP=N  SAMPLE_PROMPT="…"  SAMPLE_ANSWER="…"  [SAMPLE_TOKENS=n] [SAMPLE_END=word]
//   [SAMPLE_CUT=1]
//
// Texts are JSON strings, to preserve line ends and quotes; any other value is taken as it
// stands. Each fits a value of the protocol: a longer one is cut behind a whole character,
// and SAMPLE_CUT says so. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/protocol/protocol.hpp"

namespace trainward {

struct WorkerSample {
  std::int64_t step = 0;  // after which the model said it; 0: before the first
  std::string prompt;
  std::string answer;
  std::optional<std::int64_t> tokens = {};  // of the answer
  std::string end = {};                     // what ended it: "end_of_text", "length", …; or empty
  bool cut = false;                         // a text is longer than it is here
};

Message message_of(const WorkerSample& sample);

// Foreign: nothing without a step, a prompt or an answer that can be. Texts are valid UTF-8 without
// NUL and may hold anything else; the word for the end is cleaned.
std::optional<WorkerSample> told_sample(const Message& message);

}  // namespace trainward
