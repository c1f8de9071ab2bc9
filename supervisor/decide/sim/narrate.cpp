#include "supervisor/decide/sim/narrate.hpp"

#include <fmt/format.h>

namespace trainward::sim {
namespace {

struct EventWords {
  std::string operator()(const core::StartRequested& /*e*/) const { return "start requested"; }
  std::string operator()(const core::StopRequested& e) const {
    return "stop requested by " + e.who;
  }
  std::string operator()(const core::RestartRequested& /*e*/) const { return "restart requested"; }
  std::string operator()(const core::DaemonStarted& e) const {
    return e.machine_restarted ? "daemon started after a restart of the machine" : "daemon started";
  }
  std::string operator()(const core::ProbeFinished& e) const {
    std::string text = "probe:";
    for (const auto& board : e.boards) text += fmt::format(" {} {}", board.serial, board.verdict);
    return e.error.empty() ? text : text + " " + e.error;
  }
  std::string operator()(const core::Settling& e) const {
    return fmt::format("settling for {} ms", e.for_ms);
  }
  std::string operator()(const core::Repaired& e) const {
    return fmt::format("{} done {}", to_string(e.repair), e.error);
  }
  std::string operator()(const core::CheckpointSelected& e) const {
    return fmt::format("selected step {} {}", e.step, e.error);
  }
  std::string operator()(const core::CheckpointRejected& e) const {
    return fmt::format("rejected step {}", e.step);
  }
  std::string operator()(const core::NotReady& e) const { return "not ready: " + e.what; }
  std::string operator()(const core::LaunchFailed& e) const { return "launch failed: " + e.what; }
  std::string operator()(const core::WorkerStarted& /*e*/) const { return "worker started"; }
  std::string operator()(const core::PhaseEntered& e) const { return "phase " + e.phase; }
  std::string operator()(const core::Resumed& e) const {
    return fmt::format("resumed at {}", e.step);
  }
  std::string operator()(const core::StepDone& e) const {
    const auto& loss = e.figures.loss;
    return fmt::format("step {} loss {}", e.step, loss ? fmt::format("{:.3f}", *loss) : "-");
  }
  std::string operator()(const core::CheckpointReported& e) const {
    return fmt::format("checkpoint {} reported", e.step);
  }
  std::string operator()(const core::DevicesTold& e) const {
    return fmt::format("figures of {} devices up to step {}", e.window.devices.size(),
                       e.window.step);
  }
  std::string operator()(const core::Evaluated& e) const {
    return fmt::format("evaluated step {}: loss {:.4f}", e.step, e.loss);
  }
  std::string operator()(const core::TargetTold& e) const {
    return fmt::format("its last step is {}", e.step);
  }
  std::string operator()(const core::Noticed& e) const { return "noticed: " + e.text; }
  std::string operator()(const core::Alive& /*e*/) const { return "alive"; }
  std::string operator()(const core::ActivitySeen& e) const {
    return fmt::format("activity: {} ms of CPU", e.cpu_ms);
  }
  std::string operator()(const core::MemorySample& e) const {
    return fmt::format("memory: {} MiB left", e.available_bytes / 1'048'576);
  }
  std::string operator()(const core::HostFact& e) const { return "host: " + e.text; }
  std::string operator()(const core::Unkillable& e) const { return "unkillable: " + e.what; }
  std::string operator()(const core::CheckpointVerified& e) const {
    return fmt::format("checkpoint {} verified {}", e.step, e.error);
  }
  std::string operator()(const core::Outlived& e) const { return "goes on: " + e.who; }
  std::string operator()(const core::WorkerExited& e) const {
    return e.signal ? fmt::format("worker ended by signal {}", *e.signal)
                    : fmt::format("worker exited with {}", e.code.value_or(-1));
  }
  std::string operator()(const core::AttemptLost& e) const { return "attempt lost: " + e.what; }
  std::string operator()(const core::Adopted& /*e*/) const { return "adopted"; }
  std::string operator()(const core::TimerFired& /*e*/) const { return "timer"; }
};

}  // namespace

std::string describe(const core::Event& event) { return std::visit(EventWords{}, event); }

std::string describe(const core::Action& action) {
  if (const auto* note = std::get_if<core::RecordEvent>(&action))
    return note->kind + ": " + note->text;
  if (const auto* launch = std::get_if<core::Launch>(&action)) {
    return fmt::format("LAUNCH attempt {} board '{}' from step '{}' save every {}", launch->attempt,
                       launch->board, launch->resume_from, launch->plan.checkpoint_every);
  }
  if (const auto* signal = std::get_if<core::SendSignal>(&action)) {
    return signal->signal == core::Signal::kill ? "SIGKILL" : "SIGTERM";
  }
  if (const auto* ended = std::get_if<core::RecordAttemptEnded>(&action)) {
    return fmt::format("ENDED attempt {}: {}; {}", ended->attempt, ended->verdict,
                       ended->remedy ? to_string(*ended->remedy) : "");
  }
  if (const auto* select = std::get_if<core::SelectCheckpoint>(&action)) {
    return select->below ? fmt::format("SELECT below {}", select->below) : "SELECT";
  }
  if (std::holds_alternative<core::Probe>(action)) return "PROBE";
  if (const auto* repair = std::get_if<core::Repair>(&action)) {
    return fmt::format("REPAIR {} {}", to_string(repair->repair), repair->serial);
  }
  return {};
}

}  // namespace trainward::sim
