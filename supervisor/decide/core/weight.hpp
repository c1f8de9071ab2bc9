// How much evidence weighs when an attempt's end is judged: the heaviest decides, the rest is kept.
//
// Weights are recorded with each attempt, so a number keeps its meaning. docs/supervision.md shows
// this table.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace trainward::core {

namespace weight {

inline constexpr int own_act = 100;
inline constexpr int asked_to_end = 95;
inline constexpr int early_when_asked = 92;
inline constexpr int early_with_error = 91;
inline constexpr int meant_exit_code = 90;
inline constexpr int killed_for_memory = 85;
inline constexpr int about_worker = 80;
inline constexpr int log_cause = 60;        // the first of several
inline constexpr int least_log_cause = 51;  // each further one weighs one less, down to this
inline constexpr int symptom = 45;
inline constexpr int fatal_signal = 40;
inline constexpr int log_cascade = 35;
inline constexpr int unknown_symptom = 32;
inline constexpr int general = 30;
inline constexpr int weak_ending = 25;
inline constexpr int overcome = 22;
inline constexpr int exit_code = 20;
inline constexpr int slight = 15;
inline constexpr int cut_off = 12;
inline constexpr int phase = 10;
inline constexpr int shown_only = 5;

}  // namespace weight

struct WeightFacts {
  int weight = 0;
  std::string_view evidence;
};

inline constexpr std::array weights{
    WeightFacts{weight::own_act, "what the supervisor did itself: a kill, a stop, a restart"},
    WeightFacts{weight::asked_to_end, "something else asked it to end, and it ended"},
    WeightFacts{weight::early_when_asked, "exit code 0 before its last step, after such a request"},
    WeightFacts{weight::early_with_error, "exit code 0 before its last step, with an error logged"},
    WeightFacts{weight::meant_exit_code, "an exit code with a meaning"},
    WeightFacts{weight::killed_for_memory, "the kernel killed one of its processes for memory"},
    WeightFacts{weight::about_worker, "what the machine says of this very worker; it was lost"},
    WeightFacts{weight::log_cause, "a cause in its log"},
    WeightFacts{weight::symptom, "a symptom in its log; a fault, or a board that is gone"},
    WeightFacts{weight::fatal_signal, "the signal that ended it"},
    WeightFacts{weight::log_cascade, "a cascade in its log"},
    WeightFacts{weight::unknown_symptom, "a symptom of class unknown"},
    WeightFacts{weight::general, "what the machine says in general; a hint in its log"},
    WeightFacts{weight::weak_ending, "SIGABRT, SIGTERM, a shell's exit code for a signal"},
    WeightFacts{weight::overcome, "what training overcame"},
    WeightFacts{weight::exit_code, "any other exit code"},
    WeightFacts{weight::slight, "heat, a network link that went down"},
    WeightFacts{weight::cut_off, "what was still running at the end of a stop"},
    WeightFacts{weight::phase, "the phase it was in"},
    WeightFacts{weight::shown_only, "what is only shown, such as the threads of a hang"},
};

static_assert(std::ranges::is_sorted(weights, std::ranges::greater{}, &WeightFacts::weight));

}  // namespace trainward::core
