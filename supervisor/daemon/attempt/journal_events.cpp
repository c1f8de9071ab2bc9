#include "supervisor/daemon/attempt/journal_events.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/text.hpp"
#include "common/os/processes/host_files.hpp"
#include "common/protocol/device_figures.hpp"
#include "common/protocol/protocol.hpp"
#include "common/protocol/step_figures.hpp"

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

// A loss that is not a number, or too large to be one, is told so: the core acts on it.
double loss_of(double number) {
  return std::abs(number) > max_measure ? std::copysign(HUGE_VAL, number) : number;
}

// Nothing when it is absent, no number, or beyond what can be.
std::optional<double> measure(const Message& message, std::string_view key) {
  const auto number = find_number(message, key);
  return number && std::abs(*number) <= max_measure ? number : std::nullopt;
}

// Nothing when it is absent, negative or beyond what can be.
std::optional<std::int64_t> count_of(const Message& message, std::string_view key,
                                     std::int64_t most) {
  const auto number = find_int(message, key);
  return number && *number >= 0 && *number <= most ? number : std::nullopt;
}

std::optional<int> small_int(const json::object& fields, const char* key) {
  if (!fields.contains(key)) return std::nullopt;
  return static_cast<int>(int_or(fields, key, 0));
}

// "process 123 (python3), process 124 (sh, in nfs_wait)"; empty: none is named.
enum class Told { name, name_and_place };
std::string processes_of(const json::object& fields, const char* key, Told told = Told::name) {
  std::string who;
  const auto processes = get_array(fields, key);
  for (const json::value& entry : processes ? **processes : json::array{}) {
    const json::object* process = entry.if_object();
    if (process == nullptr) continue;
    const std::string waits_in = told == Told::name ? "" : string_or(*process, "wchan", "");
    who += fmt::format("{}process {} ({}{})", who.empty() ? "" : ", ", int_or(*process, "pid", 0),
                       host::printable(string_or(*process, "comm", "?"), 64),
                       waits_in.empty() ? "" : ", in " + host::printable(waits_in, 64));
  }
  return who;
}

core::WorkerExited exited(const json::object& fields) {
  core::WorkerExited event;
  event.code = small_int(fields, "code");
  event.signal = small_int(fields, "signal");
  event.asked_to_stop = bool_or(fields, "asked_to_stop", false);
  event.asked_by = host::printable(string_or(fields, "asked_by", ""), 64);
  event.cut_off = processes_of(fields, "cut_off");
  // A group around the attempt, or the whole machine, may have lost somebody else's process.
  if (string_or(fields, "oom_scope", "") == "worker") {
    event.oom_kills = int_or(fields, "oom_kills", 0);
  }
  return event;
}

// What is kept and shown of a worker's texts.
constexpr std::size_t max_name_bytes = 128;
constexpr std::size_t max_reason_bytes = 500;

bool is_a_sign_of_life(const Message& message) {
  constexpr auto keys = std::to_array<std::string_view>(
      {"WATCHDOG", "STATUS", "CACHE_HIT", "CACHE_MISS", "SAMPLE_STEP"});
  return std::any_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return find(message, key).has_value(); });
}

}  // namespace

std::vector<core::Event> message_events(const JournalRecord& record,
                                        const std::filesystem::path& checkpoints) {
  const Message message = fields_of(record);
  std::vector<core::Event> events;
  if (const auto step = count_of(message, "RESUMED_STEP", max_step)) {
    events.emplace_back(core::Resumed{*step, find(message, "RESUMED_FROM") == "memory"});
  }
  if (const auto phase = find(message, "PHASE")) {
    events.emplace_back(core::PhaseEntered{std::string(*phase)});
  }
  if (const auto step = count_of(message, "TARGET_STEP", max_step); step && *step > 0) {
    events.emplace_back(core::TargetTold{*step});
  }
  if (const auto step = count_of(message, "STEP", max_step); step && *step > 0) {
    core::StepDone done{*step, figures_in(message)};
    done.in_memory = {count_of(message, "MEMORY_STEP", max_step).value_or(0)};
    events.emplace_back(done);
  }
  if (auto devices = told_devices(message)) {
    events.emplace_back(core::DevicesTold{*std::move(devices)});
  }
  if (const auto step = count_of(message, "EVALUATED_STEP", max_step)) {
    if (const auto loss = find_number(message, "EVALUATION_LOSS")) {
      events.emplace_back(
          core::Evaluated{*step, loss_of(*loss), measure(message, "EVALUATION_PERPLEXITY")});
    }
  }
  if (const auto why = find(message, "EARLY_END")) {
    events.emplace_back(core::Noticed{"early_end", host::printable(*why, max_reason_bytes)});
  }
  if (const auto what = find(message, "DATA_LEFT_OUT")) {
    events.emplace_back(core::Noticed{"data", host::printable(*what, max_reason_bytes)});
  }
  if (const auto what = find(message, "CORRUPTION")) {
    events.emplace_back(core::Noticed{"corruption", host::printable(*what, max_reason_bytes)});
  }
  const auto path = find(message, "CHECKPOINT");
  if (path && lies_in(*path, checkpoints)) {
    events.emplace_back(core::CheckpointReported{
        std::string(*path), count_of(message, "CHECKPOINT_STEP", max_step).value_or(0),
        count_of(message, "CHECKPOINT_MS", max_duration_ms).value_or(0)});
  }
  if (events.empty() && is_a_sign_of_life(message)) events.emplace_back(core::Alive{});
  return events;
}

std::optional<std::string> out_of_range(const JournalRecord& record,
                                        const std::vector<core::Event>& events) {
  constexpr auto counts = std::to_array<std::pair<std::string_view, std::int64_t>>(
      {{"STEP", max_step},
       {"RESUMED_STEP", max_step},
       {"MEMORY_STEP", max_step},
       {"TARGET_STEP", max_step},
       {"CHECKPOINT_STEP", max_step},
       {"EVALUATED_STEP", max_step},
       {"SAMPLE_STEP", max_step},
       {"SAMPLE_TOKENS", max_tokens},
       {"MS", max_duration_ms},
       {"CHECKPOINT_MS", max_duration_ms}});
  constexpr auto measures =
      std::to_array<std::string_view>({"EVALUATION_LOSS", "EVALUATION_PERPLEXITY"});
  constexpr std::size_t longest_value = 40;
  const Message message = fields_of(record);
  const auto says = [&](std::string_view key, auto most) -> std::optional<std::string> {
    const auto number = find_number(message, key);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    if (std::abs(*number) <= static_cast<double>(most)) return std::nullopt;
    return fmt::format("{}={} is beyond {}", key,
                       clean(find(message, key)->substr(0, longest_value)), most);
  };
  for (const auto& [key, most] : counts) {
    if (auto text = says(key, most)) return text;
  }
  for (const auto& key : measures) {
    if (auto text = says(key, max_measure)) return text;
  }
  const bool devices = find(message, "DEVICES") || find(message, "DEVICES_STEP");
  const auto told = [](const core::Event& event) {
    return std::holds_alternative<core::DevicesTold>(event);
  };
  if (devices && std::ranges::none_of(events, told)) {
    return fmt::format("DEVICES and DEVICES_STEP are not 1 to {} names in {} bytes, and a step",
                       max_devices, max_value_bytes);
  }
  return figure_out_of_range(message);
}

std::optional<WorkerSample> sample(const JournalRecord& record) {
  // Asked of every record, and hardly any has one: its texts are not copied for that.
  const auto fields = get_object(record.fields, "fields");
  if (!fields || !(*fields)->contains("SAMPLE_STEP")) return std::nullopt;
  return told_sample(fields_of(record));
}

std::optional<CompiledProgram> compiled_program(const JournalRecord& record) {
  const Message message = fields_of(record);
  const auto hit = find(message, "CACHE_HIT");
  const auto key = hit ? hit : find(message, "CACHE_MISS");
  if (!key) return std::nullopt;
  return CompiledProgram{
      host::printable(find(message, "PROGRAM").value_or(""), max_name_bytes),
      host::printable(*key, max_name_bytes), hit.has_value(),
      count_of(message, "MS", max_duration_ms).value_or(0),
      host::printable(find(message, "CACHE_DROPPED").value_or(""), max_reason_bytes)};
}

std::optional<core::Event> exit_event(const JournalRecord& record) {
  if (record.type == "exited") return exited(record.fields);
  if (record.type != "exec_failed") return std::nullopt;
  return core::LaunchFailed{string_or(record.fields, "what", "the launch failed"),
                            bool_or(record.fields, "transient", false)};
}

core::Unkillable unkillable_event(const JournalRecord& record) {
  std::string what = processes_of(record.fields, "processes", Told::name_and_place);
  return {what.empty() ? "one of its processes" : std::move(what)};
}

core::Outlived outlived_event(const JournalRecord& record) {
  std::string who = processes_of(record.fields, "processes");
  return {who.empty() ? "what it had started" : std::move(who)};
}

}  // namespace trainward::daemon
