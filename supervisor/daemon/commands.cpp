// The commands of the API. Most have their answer when something has happened: they leave a waiter,
// which is asked after every change.
#include <spdlog/spdlog.h>

#include <csignal>

#include "common/base/version.hpp"
#include "supervisor/daemon/boards/board_probe.hpp"
#include "supervisor/daemon/daemon_parts.hpp"
#include "supervisor/daemon/service/init_system.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::daemon {
namespace {

// `trainwardctl start` answers when the worker is up, but does not wait for a long compilation.
constexpr std::int64_t start_answer_ms = 2'000;

// Of a restart: also whether the program was running.
api::Control::Answer with_stopped(const api::Control::Answer& answer, bool stopped) {
  return {[answer, stopped](Result<json::value> value) {
            if (value) value->as_object()["stopped"] = stopped;
            answer(std::move(value));
          },
          [answer] { return answer.wanted(); }};
}

}  // namespace

json::value command_answer(const std::string& program, std::string_view result, bool ok,
                           const std::string& message) {
  return json::object{
      {"program", program}, {"result", std::string(result)}, {"ok", ok}, {"message", message}};
}

// What the core has no part in. A database that refuses it holds nobody up.
void Daemon::note_request(const std::string& program, const std::string& what,
                          const std::string& by) {
  const ProgramRunner* runner = find(program);
  const std::int64_t attempt = runner == nullptr ? 0 : runner->state().attempt;
  const store::EventRow event{0, now().wall.ms, program, attempt, "operator", what, by};
  if (auto ok = parts_->store.add_event(event); !ok) {
    spdlog::warn("{} ({}): {}", what, by, ok.error().message());
  }
}

// ---- programs ----

void Daemon::command(const std::string& name, api::Verb verb, const std::string& by,
                     Answer answer) {
  if (auto ok = known(name); !ok) return answer(propagate(ok));
  on_change_soon();  // also of those who asked before and have gone since: they wait no longer
  ProgramRunner& runner = *find(name);
  const bool rest = runner.at_rest();
  const bool up = !rest && runner.state().stage != core::Stage::backoff;
  if (verb == api::Verb::stop) {
    if (rest) return answer(command_answer(name, "not running", false, runner.state().reason));
    return stop(name, by, std::move(answer));
  }
  if (shutting_down_) {
    return answer(fail(ErrorKind::transient, "trainwardd is shutting down: it starts nothing more",
                       name, "start trainwardd again; it goes on with what was running"));
  }
  const bool from_scratch = verb == api::Verb::start_from_scratch;
  const core::Event wish =
      verb == api::Verb::restart
          ? core::Event(core::RestartRequested{by})
          : core::Event(core::StartRequested{.by = by, .from_scratch = from_scratch});
  if (parts_->turns.refusal()) {
    runner.handle(wish);
    return answer(fail(ErrorKind::transient, "it starts when that is mended: " + refusal(), name,
                       "mend what the database says (free space, permissions)"));
  }
  // One that waits for its checkpoints has not begun.
  const bool begun = up && !(from_scratch && !core::has_worker(runner.state().stage));
  if (verb != api::Verb::restart && begun && runner.state().wanted) {
    return answer(command_answer(name, "already started", false, runner.state().reason));
  }
  const std::int64_t before = runner.state().attempt;
  if (verb == api::Verb::restart) answer = with_stopped(answer, !rest);
  runner.handle(wish);
  auto late = std::make_shared<Timer>(parts_->loop);
  auto timed_out = std::make_shared<bool>(false);
  // A restart first waits for the old worker; the clock of the start runs from then on.
  waiters_.emplace_back([this, name, before, late, timed_out, answer, armed = false]() mutable {
    if (!answer.wanted()) return true;
    ProgramRunner* found = find(name);
    if (found == nullptr) {
      answer(command_answer(name, "removed", false, "the program was removed meanwhile"));
      return true;
    }
    if (found->busy()) return false;
    const core::State& state = found->state();
    using enum core::Shown;
    const core::Shown shown = core::shown(state.stage);
    if (state.attempt > before && !armed) {
      armed = true;
      late->after(start_answer_ms, [this, timed_out] {
        *timed_out = true;
        on_change();
      });
    }
    if (shown == stopping || (shown == starting && !*timed_out)) return false;
    const bool ok = shown == running || shown == starting || shown == exited;
    // For a board, its checkpoints, or whatever else it needs: nothing has gone wrong in a worker.
    const bool waits = shown == backoff && state.attempt <= before;
    answer(command_answer(name,
                          ok      ? "started"
                          : waits ? "waiting"
                                  : "spawn error",
                          ok, state.reason));
    return true;
  });
}

void Daemon::stop(const std::string& name, const std::string& by, Answer answer) {
  find(name)->handle(core::StopRequested{.who = by.empty() ? "operator" : by, .by = by});
  waiters_.emplace_back([this, name, answer = std::move(answer)] {
    if (!answer.wanted()) return true;
    ProgramRunner* found = find(name);
    if (found == nullptr || found->at_rest()) {
      answer(command_answer(name, "stopped", true, found == nullptr ? "" : found->state().reason));
      return true;
    }
    if (parts_->turns.refusal() && found->at_rest_unrecorded()) {
      answer(command_answer(name, "stopped", true, refusal()));
      return true;
    }
    if (!found->overtaken()) return false;
    answer(command_answer(name, "started again", false,
                          "somebody asked for it to be started again while it was stopping"));
    return true;
  });
}

void Daemon::command_all(api::Verb verb, const std::string& by, Answer answer) {
  struct Gathered {
    json::array answers;
    std::size_t missing = 0;
  };
  std::vector<std::string> names;
  for (const auto& [name, runner] : runners_) names.push_back(name);
  auto gathered = std::make_shared<Gathered>();
  gathered->answers.resize(names.size());
  gathered->missing = names.size();
  if (names.empty()) return answer(gathered->answers);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto gather = [gathered, i, name = names[i], answer](Result<json::value> one) {
      gathered->answers[i] =
          one ? std::move(*one) : command_answer(name, "no such process", false, one.error().what);
      if (--gathered->missing == 0) answer(gathered->answers);
    };
    command(names[i], verb, by, {gather, [answer] { return answer.wanted(); }});
  }
}

Result<json::value> Daemon::signal(const std::string& name, int number, const std::string& by) {
  if (auto ok = known(name); !ok) return propagate(ok);
  if (number < 1 || number >= NSIG) {
    return command_answer(name, "bad signal name", false,
                          fmt::format("{} is no signal: they go from 1 to {}", number, NSIG - 1));
  }
  if (auto sent = find(name)->signal(number); !sent) {
    return command_answer(name, "not running", false, sent.error().what);
  }
  find(name)->handle(
      core::Noticed{"signal", fmt::format("SIG{} sent to the worker", ::sigabbrev_np(number)), by});
  return command_answer(name, "signalled", true, "");
}

void Daemon::clear(const std::string& name, const std::string& by, Answer answer) {
  if (auto ok = known(name); !ok) return answer(propagate(ok));
  note_request(name, "the logs of ended attempts are emptied", by);
  find(name)->clear_logs([name, answer](const Result<std::string>& kept) {
    if (!kept) return answer(command_answer(name, "failed", false, kept.error().message()));
    answer(command_answer(name, "cleared", true, *kept));
  });
}

Result<json::value> Daemon::reload(const std::string& by) {
  auto loaded = load_again();
  if (!loaded) {
    return fail(ErrorKind::usage, "the configuration has errors; nothing was changed",
                loaded.error().front().text(), "`trainwardctl config check` shows them all");
  }
  if (auto may = could_start(*loaded); !may) return propagate(may);
  note_request("", "the daemon restarts with the configuration as it is now", by);
  reexec_soon();
  return json::object{{"result", "restarting the daemon; workers go on"},
                      {"started_ms", started_ms_}};
}

// After the answer has gone out.
void Daemon::reexec_soon() {
  auto soon = std::make_shared<Timer>(parts_->loop);
  soon->after(50, [this, soon] {
    if (shutting_down_) return;  // the end was asked for meanwhile
    reexec_ = true;
    parts_->loop.stop();
  });
}

void Daemon::upgrade(const std::string& by, Answer answer) {
  if (successor_) {
    return answer(
        fail(ErrorKind::transient, "an upgrade is going on already", "", "ask again in a moment"));
  }
  successor_ = std::make_unique<SuccessorCheck>(
      parts_->loop, parts_->options.executable, arguments_of(parts_->options),
      [this, by, answer](Result<std::string> version) {
        // The object that calls this must outlive the call.
        parts_->loop.post([this] { successor_.reset(); });
        if (!version) {
          spdlog::warn("no upgrade: {}", version.error().message());
          return answer(propagate(version));
        }
        // What only the next version can read of the file it has checked itself.
        const auto loaded = load_again();
        if (auto may = loaded ? could_start(*loaded) : Status{}; !may) {
          spdlog::warn("no upgrade: {}", may.error().message());
          return answer(propagate(may));
        }
        upgrade_ = true;
        spdlog::info("upgrading from {} to {}; workers go on", version_text, *version);
        note_request("", fmt::format("the daemon goes from {} to {}", version_text, *version), by);
        reexec_soon();
        answer(json::object{{"result", "restarting the daemon; workers go on"},
                            {"from", std::string(version_text)},
                            {"to", *version},
                            {"started_ms", started_ms_}});
      });
}

// ---- the daemon ----

Result<json::value> Daemon::shutdown(const std::string& by) {
  note_request("", "the daemon shuts down: workers save and exit", by);
  parts_->loop.post([this] {
    const auto stop = [this] {
      if (!shutting_down_) shut_down();
    };
    if (parts_->options.stop_service) return parts_->options.stop_service(stop);
    stop();
  });
  return json::object{{"result", "shutting down: workers save and exit"},
                      {"within_ms", longest_stop_ms() + stop_margin_ms}};
}

// Each program reads the record at its next look, those that wait for a board as well.
Result<json::value> Daemon::release_board(const std::string& serial, const std::string& by) {
  auto known = parts_->store.board_record(serial);
  if (!known) return propagate(known);
  const auto value = parse_json(*known, "record of board " + serial);
  const core::BoardRecord record =
      value ? core::board_record_from_json(*value) : core::BoardRecord{};
  if (!core::quarantined(record, now().wall)) {
    return fail(ErrorKind::usage, "is not in quarantine", serial,
                "trainwardctl boards shows those that are");
  }
  const std::string none = json::serialize(core::to_json(core::BoardRecord{}));
  if (auto ok = parts_->store.put_board_record(serial, none, now().wall.ms); !ok) {
    return propagate(ok);
  }
  note_request("", fmt::format("board {} is let out of quarantine", serial), by);
  return json::object{
      {"serial", serial},
      {"message", fmt::format("board {} may be used again, from the next look on", serial)}};
}

void Daemon::probe(const api::ProbeRequest& request, Answer answer) {
  if (probe_) {
    return answer(
        fail(ErrorKind::transient, "a probe is running already", "", "ask again in a moment"));
  }
  ProbeOrder order{{}, {}, request.deep, request.recorded};
  for (const config::Program& program : parts_->config.programs) {
    if (!program.host && program.probe_command.empty()) continue;
    order.host = program.host;
    order.command = program.probe_command;
  }
  probe_ = probe_boards(parts_->loop, parts_->services.paths, order, parts_->store,
                        [this, answer](Result<hwprobe::Report> report) {
                          // The object that calls this must outlive the call.
                          parts_->loop.post([this] { probe_.reset(); });
                          if (!report) return answer(propagate(report));
                          answer(json::value(hwprobe::to_json(*report)));
                        });
}

}  // namespace trainward::daemon
