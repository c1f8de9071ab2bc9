#include "supervisor/daemon/recorder.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace trainward::daemon {
namespace {

std::string make_nonce() {
  std::array<unsigned char, 16> bytes{};
  // 16 bytes never block or fall short once the kernel's pool is ready.
  (void)!::getrandom(bytes.data(), bytes.size(), 0);
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

Status add_evidence(store::Store& store, const std::string& program, std::int64_t attempt,
                    const std::vector<core::Evidence>& evidence) {
  for (const core::Evidence& line : evidence) {
    auto ok = store.add_evidence(
        program, attempt,
        {line.source, line.weight, std::string(to_string(line.cause)), line.text, line.location});
    if (!ok) return ok;
  }
  return {};
}

Status keep_what_is_resumed(store::Store& store, store::AttemptRow& ended, std::int64_t step) {
  const std::int64_t kept = std::min(step, ended.last_step);
  if (ended.number == 0 || kept <= ended.kept_step) return {};
  ended.kept_step = kept;
  return store.put_attempt(ended);
}

Status add_compiled(store::Store& store, const std::string& program, std::int64_t attempt,
                    const CompiledProgram& compiled, Time at) {
  auto ok = store.add_compiled(program, {attempt, compiled.name, compiled.key, compiled.hit,
                                         compiled.ms, compiled.dropped, at.wall_ms});
  if (!ok || compiled.dropped.empty()) return ok;
  return store.add_event(
      {0, at.wall_ms, program, attempt, "cache",
       fmt::format("the cached program {} was dropped: {}", compiled.name, compiled.dropped)});
}

Status Recorder::recover(std::int64_t attempt) {
  auto row = store_.attempt(program_, attempt);
  if (!row) return propagate(row);
  if (*row) attempt_ = std::move(**row);
  return {};
}

Status Recorder::record(const core::Action& action, const core::State& state, Time at) {
  return std::visit(
      Overloaded{
          [&](const core::RecordEvent& e) -> Status {
            return store_.add_event({0, at.wall_ms, program_, state.attempt, e.kind, e.text});
          },
          [&](const core::RecordStep& e) -> Status {
            return store_.add_step(program_, {e.step, state.attempt, e.loss, e.grad_norm, e.tokens,
                                              e.tokens_per_second, at.wall_ms, e.replayed});
          },
          [&](const core::RecordEvaluation& e) -> Status {
            return store_.add_evaluation(program_, {e.step, state.attempt, e.loss, at.wall_ms});
          },
          [&](const core::RecordSpan& e) -> Status {
            return store_.add_span(
                program_, {e.attempt, std::string(to_string(e.phase)),
                           std::string(to_string(e.cause)), e.begin_wall_ms, e.duration_ms});
          },
          [&](const core::RecordAttemptBegun& e) -> Status {
            if (auto ok = keep_what_is_resumed(store_, attempt_, state.resume_step); !ok) return ok;
            attempt_ = {};
            attempt_.program = program_;
            attempt_.number = e.attempt;
            attempt_.nonce = make_nonce();
            attempt_.board = state.board;
            attempt_.folder = paths_.attempt(program_, e.attempt).string();
            attempt_.intended_ms = at.wall_ms;
            attempt_.resume_from = name_of(state.resume_from);
            attempt_.resume_step = state.resume_step;
            attempt_.last_step = state.resume_step;
            attempt_.kept_step = state.kept_step;
            return store_.put_attempt(attempt_);
          },
          [&](const core::RecordWorkerStarted& e) -> Status {
            attempt_.pid = e.pid;
            attempt_.started_ms = at.wall_ms;
            return store_.put_attempt(attempt_);
          },
          [&](const core::RecordAttemptEnded& e) -> Status {
            attempt_.first_step = state.first_step;
            attempt_.last_step = state.last_step;
            attempt_.ended_ms = at.wall_ms;
            attempt_.exit_code = e.code;
            attempt_.exit_signal = e.signal;
            attempt_.cause = to_string(e.cause);
            attempt_.verdict = e.verdict;
            attempt_.remedy = e.remedy ? to_string(*e.remedy) : "";
            if (auto ok = store_.put_attempt(attempt_); !ok) return ok;
            return add_evidence(store_, program_, e.attempt, e.evidence);
          },
          [&](const core::RecordCheckpoint& e) -> Status {
            const bool good = e.error.empty();
            auto ok = store_.put_checkpoint(
                program_, {e.path, e.step, e.attempt, e.bytes, good ? "verified" : "corrupt",
                           e.error, at.wall_ms});
            if (!ok || !good || e.attempt != attempt_.number) return ok;
            attempt_.kept_step = std::max(attempt_.kept_step, e.step);
            return store_.put_attempt(attempt_);
          },
          [&](const core::RecordBoard& e) -> Status {
            return store_.put_board_record(e.serial, json::serialize(core::to_json(e.record)),
                                           at.wall_ms);
          },
          [&](const core::Launch& e) -> Status {
            attempt_.plan = json::serialize(core::to_json(e.plan));
            return store_.put_attempt(attempt_);
          },
          [](const core::Probe&) -> Status { return {}; },
          [](const core::Repair&) -> Status { return {}; },
          [](const core::SelectCheckpoint&) -> Status { return {}; },
          [](const core::SendSignal&) -> Status { return {}; },
          [](const core::CheckActivity&) -> Status { return {}; },
          [](const core::VerifyCheckpoint&) -> Status { return {}; },
          [](const core::PruneCheckpoints&) -> Status { return {}; },
      },
      action);
}

Status Recorder::save_state(const core::State& state, const std::string& config_digest,
                            std::int64_t target_step, Time at) {
  if (attempt_.number == state.attempt && attempt_.number > 0 && attempt_.ended_ms == 0 &&
      (attempt_.last_step != state.last_step || attempt_.first_step != state.first_step)) {
    attempt_.first_step = state.first_step;
    attempt_.last_step = state.last_step;
    if (auto ok = store_.put_attempt(attempt_); !ok) return ok;
  }
  return store_.put_program({program_, std::string(core::display(state.stage)), state.reason,
                             config_digest, json::serialize(core::to_json(state)), at.wall_ms,
                             target_step});
}

}  // namespace trainward::daemon
