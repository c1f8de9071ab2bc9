#include "supervisor/core/classify.hpp"

#include <algorithm>
#include <csignal>

#include "common/protocol.hpp"
#include "common/text.hpp"

namespace trainward::core {
namespace {

std::string signal_name(int number) {
  switch (number) {
    case 1:
      return "SIGHUP";
    case 2:
      return "SIGINT";
    case 3:
      return "SIGQUIT";
    case 4:
      return "SIGILL";
    case 6:
      return "SIGABRT";
    case 7:
      return "SIGBUS";
    case 8:
      return "SIGFPE";
    case 9:
      return "SIGKILL";
    case 11:
      return "SIGSEGV";
    case 13:
      return "SIGPIPE";
    case 15:
      return "SIGTERM";
    default:
      return fmt::format("signal {}", number);
  }
}

// The program's own words explain an exit code better than we can.
Evidence with_words(Evidence evidence, const LastWords& said) {
  if (said.line.empty()) return evidence;
  evidence.text += fmt::format("; its last line: \"{}\"", said.line);
  evidence.location = said.location;
  return evidence;
}

Evidence from_exit_code(const WorkerExited& exit) {
  const int code = *exit.code;
  switch (code) {
    case exit_code::done:
      return {"exit status", 90, "done", "exit code 0: the worker finished its work", ""};
    case exit_code::try_again:
      return {"exit status", 90, "try_again",
              "exit code 75: the worker saved and asked to be started again", ""};
    case exit_code::configuration:
      return with_words(
          {"exit status", 90, "config", "exit code 78: the worker refused its configuration", ""},
          exit.last_words);
    case exit_code::do_not_requeue:
      return {"exit status", 90, "do_not_requeue",
              "exit code 93: the worker asked not to be started again", ""};
    default:
      break;
  }
  constexpr int by_signal = 128;
  if (code == by_signal + 9 || code == by_signal + 6 || code == by_signal + 7 ||
      code == by_signal + 11) {
    return {"exit status", 25, code == by_signal + 9 ? "killed" : "crash",
            fmt::format("exit code {}: a shell's way to report {}", code,
                        signal_name(code - by_signal)),
            ""};
  }
  Evidence failed{"exit status", 20, "unknown", fmt::format("exit code {}", code), ""};
  return exit.matches.empty() ? with_words(std::move(failed), exit.last_words) : failed;
}

Evidence from_signal(int number) {
  // SIGKILL that we did not send is nearly always the kernel's out-of-memory killer or an operator.
  const std::string cause = number == 9 ? "killed" : "crash";
  // abort() is how a runtime gives up, and SIGTERM how others end it: effects more than causes.
  const int weight = number == 6 || number == 15 ? 25 : 40;
  return {"exit status", weight, cause, fmt::format("ended by {}", signal_name(number)), ""};
}

bool may_retry(const std::string& cause) {
  return cause != "config" && cause != "firmware" && cause != "do_not_requeue" && cause != "done" &&
         cause != "stopped";
}

// What the attempt was doing; it only decides when nothing else does.
Evidence from_phase(const State& state) {
  const std::string doing = state.stage == Stage::killing ? "it had been sent SIGKILL"
                            : state.stage == Stage::stopping
                                ? "it had been asked to stop"
                                : fmt::format("it was {}", to_string(state.stage));
  return {"phase", 10, "unknown", fmt::format("{} at step {}", doing, state.last_step), ""};
}

Verdict conclude(const State& state, std::vector<Evidence> evidence) {
  evidence.push_back(from_phase(state));
  std::stable_sort(evidence.begin(), evidence.end(),
                   [](const Evidence& a, const Evidence& b) { return a.weight > b.weight; });
  const Evidence& heaviest = evidence.front();
  Verdict verdict;
  verdict.cause = heaviest.cause;
  verdict.retry = may_retry(heaviest.cause);
  verdict.sentence =
      fmt::format("{} at step {}: {}", heaviest.cause, state.last_step, heaviest.text);
  verdict.evidence = std::move(evidence);
  return verdict;
}

std::vector<Evidence> begin_evidence(const State& state) {
  std::vector<Evidence> evidence;
  if (state.kill) evidence.push_back({"supervisor", 100, state.kill->cause, state.kill->why, ""});
  for (const MachineFact& fact : state.facts) {
    if (still_counts(state, fact, state.seen.mono_ms)) evidence.push_back(fact.evidence);
  }
  return evidence;
}

}  // namespace

bool still_counts(const State& state, const MachineFact& fact, std::int64_t now_mono_ms) {
  constexpr std::int64_t fresh_ms = 600'000;
  return now_mono_ms - fact.mono_ms <= fresh_ms || state.progress_mono_ms <= fact.mono_ms;
}

Verdict classify(const State& state, const WorkerExited& exit) {
  std::vector<Evidence> evidence = begin_evidence(state);
  if (exit.code) evidence.push_back(from_exit_code(exit));
  if (exit.signal) evidence.push_back(from_signal(*exit.signal));
  // Whoever shut the machine or the session down: what ends at that is not finished. When it was
  // us, the reason for it weighs more.
  if (exit.asked_to_stop && (exit.code == exit_code::done || exit.signal == SIGTERM)) {
    evidence.push_back(
        {"shim", 95, "try_again", "something else sent it SIGTERM, and it ended as asked", ""});
  }
  if (exit.oom_kills > 0) {
    evidence.push_back({"cgroup", 85, "host_oom",
                        fmt::format("the kernel killed {} of this attempt: out of memory",
                                    count(exit.oom_kills, "process")),
                        ""});
  }
  for (const LogMatch& match : exit.matches) {
    evidence.push_back(
        {"log rule " + match.rule, match.weight, match.cause, match.line, match.location});
  }
  return conclude(state, std::move(evidence));
}

Verdict classify(const State& state, const AttemptLost& lost) {
  std::vector<Evidence> evidence = begin_evidence(state);
  evidence.push_back({"supervisor", 80, "lost", lost.what, ""});
  return conclude(state, std::move(evidence));
}

Verdict classify(const State& state, const LaunchFailed& failed) {
  Verdict verdict = conclude(
      state, {{"supervisor", 80, failed.transient ? "start_failed" : "config", failed.what, ""}});
  return verdict;
}

}  // namespace trainward::core
