#include "supervisor/decide/core/turn/classify.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::core {

// The rule for lines by which programs tell that they were asked to end.
constexpr std::string_view asked_to_end_rule = "unknown-preempted";

std::string signal_name(int number) {
  const char* const known = ::sigabbrev_np(number);
  return known != nullptr ? fmt::format("SIG{}", known) : fmt::format("signal {}", number);
}

namespace {

// The program's own words explain an exit code better than we can.
Evidence with_words(Evidence evidence, const LastWords& said) {
  if (said.line.empty()) return evidence;
  evidence.text += fmt::format("; its last line: \"{}\"", said.line);
  evidence.location = said.location;
  return evidence;
}

bool counts_as_done(const WorkerExited& exit, const ExitCodes& done) {
  return exit.code && std::ranges::find(done, *exit.code) != done.end();
}

Evidence from_exit_code_of(const WorkerExited& exit, const ExitCodes& done) {
  if (counts_as_done(exit, done)) {
    Evidence evidence = from_exit_code(exit_code::done);
    evidence.text = fmt::format("exit code {}: the worker finished its work", *exit.code);
    return evidence;
  }
  if (exit.code == exit_code::done) {
    return {"exit status", weight::exit_code, Cause::unknown,
            "exit code 0, which is not one of its exit_codes", ""};
  }
  return from_exit_code(*exit.code);
}

Evidence with_words(const WorkerExited& exit, const ExitCodes& done) {
  Evidence evidence = from_exit_code_of(exit, done);
  const bool explained =
      evidence.cause == Cause::unknown ? !exit.matches.empty() : evidence.cause != Cause::config;
  return explained ? evidence : with_words(std::move(evidence), exit.last_words);
}

// What the attempt was doing; it only decides when nothing else does.
Evidence from_phase(const State& state) {
  const std::string doing = state.stage == Stage::killing ? "it had been sent SIGKILL"
                            : state.stage == Stage::stopping
                                ? "it had been asked to stop"
                                : fmt::format("it was {}", to_string(state.stage));
  return {"phase", weight::phase, Cause::unknown, doing + at_step(state), ""};
}

// A program that has worked for a while was set up correctly: what it then stumbles over is a fault
// of the program, or of its data, and another attempt may not meet it again.
bool has_worked(const State& state) {
  constexpr std::int64_t a_while_ms = 600'000;
  return state.current.first_step || state.seen.mono - state.current.launched_mono_ms >= a_while_ms;
}

Verdict conclude(const State& state, std::vector<Evidence> evidence) {
  evidence.push_back(from_phase(state));
  std::stable_sort(evidence.begin(), evidence.end(),
                   [](const Evidence& a, const Evidence& b) { return a.weight > b.weight; });
  const Evidence& heaviest = evidence.front();
  Verdict verdict;
  verdict.cause = heaviest.cause;
  verdict.sentence =
      fmt::format("{}{}: {}", to_string(heaviest.cause), at_step(state), heaviest.text);
  verdict.evidence = std::move(evidence);
  return verdict;
}

std::vector<Evidence> begin_evidence(const State& state) {
  std::vector<Evidence> evidence;
  if (state.current.kill)
    evidence.push_back(
        {"supervisor", weight::own_act, state.current.kill->cause, state.current.kill->why, ""});
  for (const MachineFact& fact : state.current.facts) {
    if (still_counts(state, fact, state.seen.mono)) evidence.push_back(fact.evidence);
  }
  return evidence;
}

// How a program ends that was asked to and has no answer of its own.
bool ended_as_asked(const WorkerExited& exit, const ExitCodes& done) {
  constexpr std::array polite{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  constexpr int by_signal = 128;
  const auto is_polite = [&](int number) {
    return std::ranges::find(polite, number) != polite.end();
  };
  if (exit.signal) return is_polite(*exit.signal);
  return counts_as_done(exit, done) || exit.code == exit_code::done ||
         (exit.code && is_polite(*exit.code - by_signal));
}

// Shutting the machine or the session down: what ends at that is not finished. When it was us,
// the reason is known; of a daemon before this one, or whose database was put back, it is not.
std::optional<Evidence> from_request(const State& state, const WorkerExited& exit,
                                     const ExitCodes& done) {
  if (state.current.kill || !exit.asked_to_stop || !ended_as_asked(exit, done)) return std::nullopt;
  const std::string who = exit.asked_by.empty() ? "something else" : exit.asked_by;
  return Evidence{"shim", weight::asked_to_end, Cause::try_again,
                  fmt::format("{} asked it to end, and it ended as asked", who), ""};
}

// Of the run, or at least of the epoch.
Step end_of(const Attempt& attempt) {
  return attempt.target_step ? attempt.target_step : attempt.counter_end;
}

bool ended_early(const State& state, const WorkerExited& exit, const ExitCodes& done) {
  const Attempt& attempt = state.current;
  return counts_as_done(exit, done) && attempt.first_step && attempt.last_step < end_of(attempt);
}

// Of one that says it is done before its last step: what its log says of that.
std::optional<Evidence> from_early_end(const State& state, const WorkerExited& exit) {
  const Attempt& attempt = state.current;
  const auto at = [&] { return fmt::format("{} of {}", attempt.last_step, end_of(attempt)); };
  for (const LogMatch& match : exit.matches) {
    if (match.rule != asked_to_end_rule) continue;
    return Evidence{"early end", weight::early_when_asked, Cause::try_again,
                    fmt::format("exit code {} at step {}, after \"{}\": it was asked to end, and "
                                "is not finished",
                                *exit.code, at(), match.line),
                    match.location};
  }
  const auto failed = std::ranges::find_if(exit.matches, [](const LogMatch& match) {
    return match.weight >= weight::symptom && is_fault(match.cause);
  });
  if (failed == exit.matches.end()) return std::nullopt;
  return Evidence{"early end", weight::early_with_error, Cause::done,
                  fmt::format("exit code {}, but at step {} and with an error in its log: \"{}\". "
                              "Is it finished? If not, start it again, and have its launcher pass "
                              "exit codes on",
                              *exit.code, at(), failed->line),
                  failed->location};
}

}  // namespace

std::string at_step(const State& state) {
  if (state.current.last_step) return fmt::format(" at step {}", state.current.last_step);
  const Step before = state.history.highest_step;
  return before ? fmt::format(" before its first step ({} was reached before)", before) : "";
}

std::string log_rule(std::string_view rule) { return fmt::format("log rule {}", rule); }

Evidence from_exit_code(int code) {
  const auto evidence = [code](int heavy, Cause cause, std::string_view meaning) {
    return Evidence{"exit status", heavy, cause, fmt::format("exit code {}{}", code, meaning), ""};
  };
  switch (code) {
    case exit_code::done:
      return evidence(weight::meant_exit_code, Cause::done, ": the worker finished its work");
    case exit_code::try_again:
      return evidence(weight::meant_exit_code, Cause::try_again,
                      ": the worker saved and asked to be started again");
    case exit_code::configuration:
      return evidence(weight::meant_exit_code, Cause::config,
                      ": the worker refused its configuration");
    case exit_code::do_not_requeue:
      return evidence(weight::meant_exit_code, Cause::do_not_requeue,
                      ": the worker asked not to be started again");
    default:
      break;
  }
  constexpr int by_signal = 128;
  switch (const int signal = code - by_signal) {
    case SIGKILL:
    case SIGABRT:
    case SIGBUS:
    case SIGSEGV:
      return evidence(weight::weak_ending, from_signal(signal).cause,
                      fmt::format(": a shell's way to report {}", signal_name(signal)));
    default:
      return evidence(weight::exit_code, Cause::unknown, "");
  }
}

Evidence from_signal(int number) {
  // SIGKILL that we did not send is nearly always the kernel's out-of-memory killer or an operator.
  const Cause cause = number == SIGKILL ? Cause::killed : Cause::crash;
  // abort() is how a runtime gives up, and SIGTERM how others end it: effects more than causes.
  const bool weak = number == SIGABRT || number == SIGTERM;
  return {"exit status", weak ? weight::weak_ending : weight::fatal_signal, cause,
          fmt::format("ended by {}", signal_name(number)), ""};
}

Step standing_at(const State& state) {
  const Attempt& attempt = state.current;
  return attempt.last_step ? attempt.last_step : attempt.highest_at_launch;
}

bool still_counts(const State& state, const MachineFact& fact, MonoTime now) {
  constexpr std::int64_t fresh_ms = 600'000;
  return now - fact.mono_ms <= fresh_ms || state.watch.progress_mono_ms <= fact.mono_ms;
}

Verdict classify(const State& state, const WorkerExited& exit, const ExitCodes& done) {
  std::vector<Evidence> evidence = begin_evidence(state);
  if (exit.code) evidence.push_back(with_words(exit, done));
  if (exit.signal) evidence.push_back(from_signal(*exit.signal));
  if (auto asked = from_request(state, exit, done)) evidence.push_back(std::move(*asked));
  if (ended_early(state, exit, done)) {
    if (auto early = from_early_end(state, exit)) evidence.push_back(std::move(*early));
  }
  if (exit.oom_kills > 0) {
    evidence.push_back({"cgroup", weight::killed_for_memory, Cause::host_oom,
                        fmt::format("the kernel killed {} of this attempt: out of memory",
                                    count(exit.oom_kills, "process")),
                        ""});
  }
  if (!exit.cut_off.empty()) {
    evidence.push_back(
        {"shim", weight::cut_off, state.current.kill ? state.current.kill->cause : Cause::killed,
         fmt::format("still running when the time to end was over, and killed: {}", exit.cut_off),
         ""});
  }
  for (const LogMatch& match : exit.matches) {
    const bool set_up = match.cause == Cause::config && has_worked(state);
    evidence.push_back({log_rule(match.rule), match.weight, set_up ? Cause::crash : match.cause,
                        match.line, match.location});
  }
  return conclude(state, std::move(evidence));
}

Verdict classify(const State& state, const AttemptLost& lost) {
  std::vector<Evidence> evidence = begin_evidence(state);
  evidence.push_back({"supervisor", weight::about_worker, Cause::lost, lost.what, ""});
  return conclude(state, std::move(evidence));
}

Verdict classify(const State& state, const LaunchFailed& failed) {
  Verdict verdict =
      conclude(state, {{"supervisor", weight::about_worker,
                        failed.transient ? Cause::start_failed : Cause::config, failed.what, ""}});
  return verdict;
}

}  // namespace trainward::core
