// What of a command nobody will see, and which key changes that: one note for a program at most,
// about what costs most. A program that is seen whole, or goes on by itself from checkpoints that
// are seen, has none.
#include <fmt/format.h>

#include "supervisor/config/program_policy.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

// How it shows that a program hangs of which no step is seen.
std::string_view hang_shows(const Program& program) {
  if (program.watch.cpu_time) return "only in the processor time it uses";
  return program.deadlines.silence_ms > 0
             ? "only when it neither computes nor writes (deadlines.silence)"
             : "not at all (deadlines.silence)";
}

// Empty: nothing that matters stays unseen.
std::string unseen(const Program& program) {
  const foreign::WatchSpec& watch = program.watch;
  const bool checkpoints = !watch.checkpoints.empty();
  if (!foreign::reads_output(watch) && watch.status_file.empty()) {
    return fmt::format(
        "its steps{} will not be seen, and a hang shows {}. To change that: watch: auto, or "
        "watch.log, watch.status_file{}",
        checkpoints ? " and losses" : ", losses and checkpoints", hang_shows(program),
        checkpoints ? "" : ", and watch.checkpoints");
  }
  if (checkpoints) return "";
  if (is_told_to_resume(program)) {
    return "what it is told of where to go on ({checkpoint}, {resume_step}) is always the "
           "beginning: watch.checkpoints says where its checkpoints lie";
  }
  // What is always started again has no place to go on from.
  if (program.autorestart == core::Autorestart::always) return "";
  return "I can't see checkpoints; after a crash the command is simply started again. If it saves, "
         "say where: watch: {checkpoints: ['out/ckpt*.pt']}";
}

}  // namespace

void note_watch(const yaml::Node& command, const Program& program, const Folders& folders) {
  // One that speaks the protocol tells of itself.
  if (folders.notes == nullptr || program.command.empty() || program.watch.protocol) return;
  const std::string text = unseen(program);
  if (text.empty()) return;
  folders.notes->push_back(
      {command.mark, fmt::format("programs.{}.watch: {}", program.name, text)});
}

}  // namespace trainward::config
