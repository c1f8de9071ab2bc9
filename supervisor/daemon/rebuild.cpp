#include "supervisor/daemon/rebuild.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/file.hpp"
#include "common/journal.hpp"
#include "common/launch.hpp"
#include "common/protocol.hpp"
#include "common/text.hpp"
#include "supervisor/containment/attempt_facts.hpp"
#include "supervisor/core/classify.hpp"
#include "supervisor/daemon/journal_events.hpp"
#include "supervisor/daemon/recorder.hpp"

namespace trainward::daemon {
namespace {

core::Verdict verdict_of(const core::Event& exit, std::int64_t last_step) {
  core::State state;
  state.stage = core::Stage::training;
  state.last_step = last_step;
  if (const auto* exited = std::get_if<core::WorkerExited>(&exit)) return classify(state, *exited);
  if (const auto* failed = std::get_if<core::LaunchFailed>(&exit)) return classify(state, *failed);
  return classify(state, std::get<core::AttemptLost>(exit));
}

class ProgramHistory {
 public:
  ProgramHistory(store::Store& store, const Paths& paths, const config::Program& program,
                 CrashRules& rules)
      : store_(store), paths_(paths), program_(program), rules_(rules) {}

  Status rebuild(Rebuilt& rebuilt) {
    const auto attempts =
        containment::attempt_folders(paths_.attempt(program_.name, 1).parent_path());
    if (attempts.empty()) return {};
    if (auto ok = put_program({}); !ok) return ok;
    bool lives = false;
    for (const auto& [number, folder] : attempts) {
      // The journal of one that lives is counted when its shim is found again.
      lives = number == attempts.back().number && containment::shim_lives(folder);
      if (auto ok = add(number, folder, lives); !ok) return ok;
      ++rebuilt.attempts;
    }
    rebuilt.steps += steps_;
    core::State state = state_after(row_, paths_.checkpoints(program_.name), program_.autostart);
    state.highest_step = highest_step_;
    state.kept_step = state.kept_at_launch = kept_step_;
    return put_program(state);
  }

 private:
  Status put_program(const core::State& state) {
    return store_.put_program({program_.name, std::string(core::display(state.stage)), state.reason,
                               program_.digest, json::serialize(core::to_json(state)),
                               now().wall_ms, 0});
  }

  Status add(std::int64_t number, const std::filesystem::path& folder, bool lives) {
    previous_ = std::exchange(row_, {});
    row_.program = program_.name;
    row_.number = number;
    row_.folder = folder.string();
    exit_.reset();
    read_launch(folder);
    if (auto ok = store_.put_attempt(row_); !ok) return ok;
    if (auto ok = read_records(folder, lives); !ok) return ok;
    if (!lives) return add_end(folder);
    row_.ended_ms = 0;
    return store_.put_attempt(row_);
  }

  void read_launch(const std::filesystem::path& folder) {
    const auto spec = read_launch_spec(folder / attempt_files::launch);
    if (!spec) return;
    row_.nonce = spec->nonce;
    const auto variable = [&](const char* name) {
      const auto found = spec->environment.find(name);
      return found == spec->environment.end() ? std::string() : found->second;
    };
    row_.resume_from = std::filesystem::path(variable(env::resume_from)).filename().string();
    row_.plan = variable(env::plan);
    if (auto plan = parse_json(row_.plan, "plan"); plan && plan->is_object()) {
      if (auto board = get_object(plan->get_object(), "board")) {
        row_.board = string_or(**board, "serial", "");
      }
    }
  }

  // A piece of the journal is in memory at a time.
  Status read_records(const std::filesystem::path& folder, bool lives) {
    for (std::int64_t offset = 0;;) {
      const auto batch = read_journal(folder / attempt_files::journal, offset);
      if (!batch) {
        spdlog::warn("{}: {}", program_.name, batch.error().message());
        return {};
      }
      for (const JournalRecord& record : batch->records) {
        if (auto ok = take(record, lives); !ok) return ok;
      }
      offset = batch->next_offset;
      if (!batch->more) return {};
    }
  }

  Status take(const JournalRecord& record, bool lives) {
    row_.ended_ms = record.at.wall_ms;
    if (record.type == "started") {
      row_.intended_ms = row_.started_ms = record.at.wall_ms;
      row_.pid = int_or(record.fields, "pid", 0);
    } else if (record.type == "message") {
      if (const auto compiled = compiled_program(record); compiled && !lives) {
        auto ok = add_compiled(store_, program_.name, row_.number, *compiled, record.at);
        if (!ok) return ok;
      }
      for (const auto& event : message_events(record, paths_.checkpoints(program_.name))) {
        if (const auto* resumed = std::get_if<core::Resumed>(&event)) {
          row_.resume_step = row_.last_step = resumed->step;
          auto ok = keep_what_is_resumed(store_, previous_, resumed->step);
          if (!ok) return ok;
          kept_step_ = std::max(kept_step_, previous_.kept_step);
        } else if (const auto* saved = std::get_if<core::CheckpointReported>(&event)) {
          kept_step_ = std::max(kept_step_, saved->step);
        } else if (const auto* step = std::get_if<core::StepDone>(&event); step && !lives) {
          if (auto ok = add_step(*step, record.at); !ok) return ok;
        } else if (const auto* seen = std::get_if<core::Evaluated>(&event); seen && !lives) {
          auto ok = store_.add_evaluation(program_.name,
                                          {seen->step, row_.number, seen->loss, record.at.wall_ms});
          if (!ok) return ok;
        }
      }
    } else if (auto exit = exit_event(record)) {
      exit_ = std::move(exit);
    }
    return {};
  }

  Status add_step(const core::StepDone& step, Time at) {
    if (step.step <= row_.last_step) return {};
    if (row_.first_step == 0) row_.first_step = step.step;
    row_.last_step = step.step;
    ++steps_;
    const bool replayed = step.step <= highest_step_;
    highest_step_ = std::max(highest_step_, step.step);
    return store_.add_step(program_.name,
                           {step.step, row_.number, step.loss, step.grad_norm, step.tokens,
                            step.tokens_per_second, at.wall_ms, replayed});
  }

  Status add_end(const std::filesystem::path& folder) {
    core::Event exit =
        exit_ ? std::move(*exit_) : core::Event(core::AttemptLost{"no word of its end was found"});
    if (auto* exited = std::get_if<core::WorkerExited>(&exit)) {
      LogEvidence evidence = rules_.reader()(folder);
      exited->matches = std::move(evidence.matches);
      exited->last_words = std::move(evidence.last_words);
      row_.exit_code = exited->code;
      row_.exit_signal = exited->signal;
    }
    const core::Verdict verdict = verdict_of(exit, row_.last_step);
    row_.ended_ms = std::max<std::int64_t>(row_.ended_ms, 1);
    row_.kept_step = kept_step_;
    row_.cause = to_string(verdict.cause);
    row_.verdict = verdict.sentence;
    if (auto ok = store_.put_attempt(row_); !ok) return ok;
    return add_evidence(store_, program_.name, row_.number, verdict.evidence);
  }

  store::Store& store_;
  const Paths& paths_;
  const config::Program& program_;
  CrashRules& rules_;
  store::AttemptRow row_;       // of the attempt that is being read
  store::AttemptRow previous_;  // number 0: none
  std::optional<core::Event> exit_;
  std::int64_t highest_step_ = 0;
  std::int64_t kept_step_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace

Result<std::filesystem::path> set_aside(const std::filesystem::path& database) {
  std::string stamp = iso8601(now().wall_ms);  // as 20261121T180000Z
  stamp.erase(stamp.find('.'), 4);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string ending = ".damaged-" + stamp;
  // The file itself last: until then the next start finds the damage again.
  for (const char* part : {"-wal", "-shm", ""}) {
    const std::string from = database.string() + part;
    std::error_code error;
    std::filesystem::rename(from, database.string() + ending + part, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      return fail_errno(error.value(), "set the damaged run database aside", from);
    }
  }
  if (auto synced = fsync_folder(database.parent_path()); !synced) return propagate(synced);
  return database.string() + ending;
}

Result<Rebuilt> rebuild(store::Store& store, const Paths& paths,
                        const std::vector<config::Program>& programs, CrashRules& rules) {
  Rebuilt rebuilt;
  auto transaction = store.begin();
  if (!transaction) return propagate(transaction);
  for (const config::Program& program : programs) {
    auto ok = ProgramHistory(store, paths, program, rules).rebuild(rebuilt);
    if (!ok) return propagate(ok);
  }
  // In the same transaction: a database with a boot id is whole.
  if (auto noted = store.put_boot_id(boot_id(), now().wall_ms); !noted) return propagate(noted);
  if (auto committed = transaction->commit(); !committed) return propagate(committed);
  return rebuilt;
}

core::State state_after(const store::AttemptRow& last, const std::filesystem::path& checkpoints,
                        bool autostart) {
  const Time at = now();
  core::State state;
  state.attempt = last.number;
  state.resume_step = last.resume_step;
  state.first_step = last.first_step;
  state.last_step = last.last_step;
  if (last.ended_ms == 0) {
    // What its journal says comes next, with the times of then: nothing newer was seen.
    state.stage = core::Stage::launching;
    state.wanted = true;
    state.board = last.board;
    if (!last.resume_from.empty()) state.resume_from = (checkpoints / last.resume_from).string();
    state.launched_mono_ms = at.mono_ms - std::max<std::int64_t>(at.wall_ms - last.started_ms, 0);
    return state;
  }
  state.seen = at;
  state.last_cause = core::cause_from(last.cause);
  state.reason = last.verdict;
  if (state.last_cause == core::Cause::done) {
    state.stage = core::Stage::exited;
  } else if (autostart) {
    state.wanted = true;
    state.stage = core::Stage::backoff;
    state.deadline_mono_ms = at.mono_ms + 1;
  }
  return state;
}

}  // namespace trainward::daemon
