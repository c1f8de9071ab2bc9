#include "supervisor/daemon/messages.hpp"

#include <cmath>

#include "common/protocol.hpp"

namespace trainward::daemon {
namespace {

Message fields_of(const JournalRecord& record) {
  Message message;
  if (auto fields = get_object(record.fields, "fields")) {
    for (const auto& [key, value] : **fields) {
      if (value.is_string()) message.emplace_back(key, value.get_string());
    }
  }
  return message;
}

// Folder directly inside the program's checkpoint folder, and nowhere else.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return path.is_absolute() && path.lexically_normal() == path && path.has_filename() &&
         path.parent_path() == folder.lexically_normal();
}

// A loss that is not a number is told as it is: the core acts on it.
double finite(std::optional<double> number) {
  return number && std::isfinite(*number) ? *number : 0.0;
}

}  // namespace

std::vector<core::Event> events_of(const JournalRecord& record,
                                   const std::filesystem::path& checkpoints) {
  const Message message = fields_of(record);
  std::vector<core::Event> events;
  if (const auto step = find_int(message, "RESUMED_STEP"); step && *step >= 0) {
    events.emplace_back(core::Resumed{*step});
  }
  if (const auto phase = find(message, "PHASE")) {
    events.emplace_back(core::PhaseEntered{std::string(*phase)});
  }
  if (const auto step = find_int(message, "STEP"); step && *step > 0) {
    events.emplace_back(core::StepDone{*step, find_number(message, "LOSS").value_or(0),
                                       finite(find_number(message, "GRAD_NORM")),
                                       find_int(message, "TOKENS").value_or(0),
                                       finite(find_number(message, "TOKENS_PER_SECOND"))});
  }
  const auto path = find(message, "CHECKPOINT");
  const auto step = find_int(message, "CHECKPOINT_STEP");
  if (path && lies_in(*path, checkpoints)) {
    events.emplace_back(core::CheckpointReported{std::string(*path), step.value_or(0)});
  }
  if (events.empty() && (find(message, "WATCHDOG") || find(message, "STATUS"))) {
    events.emplace_back(core::Alive{});
  }
  return events;
}

}  // namespace trainward::daemon
