#include "supervisor/daemon/records/past_attempt.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "checkpoint/format/names.hpp"
#include "common/base/json/json.hpp"
#include "common/protocol/protocol.hpp"
#include "common/wire/journal.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/daemon/attempt/journal_events.hpp"
#include "supervisor/daemon/boards/smaller_mesh.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::daemon {
namespace {

// [2, 4]; nothing for what is no such list.
std::optional<config::Mesh> mesh_at(const json::object& object, std::string_view key) {
  const json::value* shape = object.if_contains(key);
  if (shape == nullptr) return std::nullopt;
  const auto sides = json::try_value_to<std::vector<std::int64_t>>(*shape);
  if (!sides || sides->size() != 2) return std::nullopt;
  return config::Mesh{sides->at(0), sides->at(1)};
}

void read_plan(PastAttempt& past) {
  auto plan = parse_json(past.plan, "plan");
  if (!plan || !plan->is_object()) return;
  const auto add = [&](const json::object& board) {
    past.boards.push_back(string_or(board, "serial", ""));
  };
  // A program on several boards has them all in the list, the first as well.
  if (auto boards = get_array(plan->get_object(), "boards")) {
    for (const json::value& board : **boards) {
      if (board.is_object()) add(board.get_object());
    }
  } else if (auto board = get_object(plan->get_object(), "board")) {
    add(**board);
  }
  if (auto mesh = get_object(plan->get_object(), "mesh")) {
    if (const auto shape = mesh_at(**mesh, "shape")) {
      past.mesh = name_of(*shape);
      past.chips = shape->rows * shape->columns;
    }
    if (const auto full = mesh_at(**mesh, "full")) past.full_mesh = name_of(*full);
  }
  // Told to the worker beside the plan, and not part of it.
  for (const char* key : {"board", "boards", "mesh"}) plan->get_object().erase(key);
  past.plan = json::serialize(*plan);
}

void read_launch(PastAttempt& past) {
  const auto file = past.folder / attempt_files::launch;
  const auto spec = read_launch_spec(file);
  if (!spec) return;
  past.nonce = spec->nonce;
  const auto variable = [&](const char* name) {
    const auto found = spec->environment.find(name);
    return found == spec->environment.end() ? std::string() : found->second;
  };
  past.resume_from = variable(env::resume_from);
  past.plan = variable(env::plan);
  read_plan(past);
  struct stat info {};
  if (::stat(file.c_str(), &info) == 0) {
    past.launched.wall.ms = info.st_mtim.tv_sec * 1'000 + info.st_mtim.tv_nsec / 1'000'000;
  }
}

void read_first_records(PastAttempt& past, const std::filesystem::path& checkpoints) {
  constexpr std::size_t enough = 64 * 1024;
  auto first = read_journal(past.folder / attempt_files::journal, 0, enough);
  if (!first || first->records.empty()) return;
  const Time began = first->records.front().at;
  // Written just before; the wall clock may have been set in between.
  constexpr std::int64_t longest_launch_ms = 60'000;
  const std::int64_t took =
      std::clamp<std::int64_t>(began.wall - past.launched.wall, 0, longest_launch_ms);
  past.launched = {began.wall - took, began.mono - took};
  for (const JournalRecord& record : first->records) {
    if (record.type == "started") past.boot_id = string_or(record.fields, "boot_id", "");
    if (record.type != "message") continue;
    for (const core::Event& event : message_events(record, checkpoints)) {
      // Where it says it went on; a worker that breaks its contract says something else.
      const auto* resumed = std::get_if<core::Resumed>(&event);
      const bool told = resumed != nullptr && !resumed->from_memory;
      if (told && past.resume_step == 0) past.resume_step = resumed->step.number;
    }
  }
}

}  // namespace

std::vector<PastAttempt> past_attempts(const Paths& paths, const std::string& program,
                                       std::int64_t first) {
  std::vector<PastAttempt> all;
  const auto folders = containment::attempt_folders(paths.attempts(program));
  for (const auto& [number, folder] : folders) {
    if (number < first) continue;
    PastAttempt past;
    past.number = number;
    past.folder = folder;
    read_launch(past);
    read_first_records(past, paths.checkpoints(program));
    const auto name = std::filesystem::path(past.resume_from).filename().string();
    if (const auto step = checkpoint::step_from_name(name)) past.resume_step = *step;
    past.lives = number == folders.back().number && containment::shim_lives(folder);
    all.push_back(std::move(past));
  }
  return all;
}

}  // namespace trainward::daemon
