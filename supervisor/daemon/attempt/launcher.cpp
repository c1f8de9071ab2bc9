#include "supervisor/daemon/attempt/launcher.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>

#include "common/base/json/json.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "common/os/folder.hpp"
#include "common/protocol/protocol.hpp"
#include "common/wire/launch.hpp"
#include "hwprobe/worker_environment.hpp"
#include "supervisor/config/launch_environment.hpp"
#include "supervisor/daemon/attempt/worker_folders.hpp"
#include "supervisor/daemon/boards/lease.hpp"
#include "supervisor/daemon/loop/spawn.hpp"
#include "supervisor/daemon/service/init_system.hpp"
#include "supervisor/decide/core/state.hpp"
#include "supervisor/process/containment/leftovers.hpp"

namespace trainward::daemon {
namespace {

json::object board_json(const hwprobe::Board& board) {
  return {{"serial", board.serial}, {"type", board.type}, {"bus_id", board.bus_id}};
}

std::vector<const hwprobe::Board*> boards_of(const LaunchOrder& order) {
  std::vector<const hwprobe::Board*> boards;
  if (order.board != nullptr) boards.push_back(order.board);
  boards.insert(boards.end(), order.more_boards.begin(), order.more_boards.end());
  return boards;
}

json::object plan_json(const LaunchOrder& order) {
  json::object plan = core::to_json(order.plan);
  if (order.board != nullptr) plan["board"] = board_json(*order.board);
  if (!order.place) return plan;
  json::array boards;
  for (const hwprobe::Board* board : boards_of(order)) boards.push_back(board_json(*board));
  plan["boards"] = std::move(boards);
  plan["mesh"] = json::object{{"shape", {order.place->mesh.rows, order.place->mesh.columns}},
                              {"chips", json::value_from(order.place->chips)}};
  if (order.full_mesh) {
    plan["mesh"].as_object()["full"] = {order.full_mesh->rows, order.full_mesh->columns};
  }
  return plan;
}

// What the simulated card reads: the one board's section, or those of several by serial number.
std::optional<json::object> simulate_json(const LaunchOrder& order) {
  const std::vector<const hwprobe::Board*> boards = boards_of(order);
  if (boards.size() == 1 && !boards.front()->simulate.empty()) return boards.front()->simulate;
  json::object sections;
  for (const hwprobe::Board* board : boards) {
    if (!board->simulate.empty()) sections[board->serial] = board->simulate;
  }
  if (sections.empty()) return std::nullopt;
  return json::object{{"boards", std::move(sections)}};
}

// With commas between them.
std::string joined(const LaunchOrder& order, std::string hwprobe::Board::*text) {
  std::string list;
  for (const hwprobe::Board* board : boards_of(order)) {
    if (board->*text == "") continue;
    if (!list.empty()) list += ',';
    list += board->*text;
  }
  return list;
}

foreign::Values values_for(const config::Program& program, const LaunchOrder& order,
                           const Paths& paths) {
  foreign::LaunchFacts facts;
  facts.checkpoint = order.resume_from;
  facts.resume_step = order.resume_step;
  facts.attempt = order.attempt;
  facts.devices = joined(order, &hwprobe::Board::bus_id);
  facts.serials = joined(order, &hwprobe::Board::serial);
  facts.checkpoint_dir = paths.checkpoints(program.name).string();
  facts.plan = order.plan;
  facts.configured.block = program.shrinking.block;
  facts.configured.batch = program.shrinking.batch;
  facts.configured.checkpoint_every = program.cadence.max_steps;
  return foreign::values_of(facts);
}

LaunchSpec make_spec(const config::Program& program, const LaunchOrder& order, const Paths& paths,
                     const std::filesystem::path& folder) {
  LaunchSpec spec;
  spec.run = program.name;
  spec.attempt = order.attempt;
  spec.nonce = order.nonce;
  spec.directory = program.directory;
  const foreign::Values values = values_for(program, order, paths);
  spec.argv = foreign::fill(program.command, values);
  spec.log_max_bytes = program.log_max_bytes;
  spec.log_keep = program.log_keep;
  if (program.memory_limit_bytes > 0) spec.memory_limit_bytes = program.memory_limit_bytes;
  spec.oom_score_adj = order.oom_score_adj;
  // Who is not root is that user already (config::check_run_as()).
  if (::geteuid() == 0) spec.user = config::user_of(program);
  spec.umask = program.umask;
  spec.limits = program.resource_limits;
  spec.stop_signal = program.stop_signal;
  spec.cgroup =
      containment::cgroup_prefix(paths.state, program.name) + std::to_string(order.attempt);
  if (spec.argv.empty()) {
    spec.argv = {paths.program("trainward-worker").string(), "train", "--config",
                 (folder / worker_config).string()};
    spec.memory = order.disk_only ? LaunchSpec::Memory::fresh : LaunchSpec::Memory::take;
  }
  const std::string own_cache = config::own_cache(program);
  spec.environment = config::environment_of(program, values, config::environment_from(::environ));
  spec.environment[env::run] = program.name;
  spec.environment[env::attempt] = std::to_string(order.attempt);
  spec.environment[env::nonce] = order.nonce;
  spec.environment[env::checkpoint_dir] = paths.checkpoints(program.name).string();
  spec.environment[env::resume_from] = order.resume_from;
  spec.environment[env::program_cache] = paths.programs_cache(own_cache).string();
  spec.environment[env::plan] = json::serialize(plan_json(order));
  if (const auto simulate = simulate_json(order)) {
    spec.environment[env::simulate] = json::serialize(*simulate);
  }
  spec.environment["TMPDIR"] = (folder / "tmp").string();
  const hwprobe::WorkerPlace place{
      joined(order, &hwprobe::Board::bus_id),
      paths.kernels_cache(order.board == nullptr ? "" : order.board->serial, own_cache),
      program.deadlines.train_floor_ms / 1000};
  for (hwprobe::Variable& variable : hwprobe::worker_environment(place)) {
    if (variable.only_if_unset && spec.environment.contains(variable.name)) continue;
    spec.environment[variable.name] = std::move(variable.value);
  }
  return spec;
}

// Not durably: after a power cut no attempt is left that could need it.
Status write_plainly(const Folder& folder, const char* name, const std::string& text,
                     unsigned mode) {
  auto fd = folder.open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!fd) return propagate(fd);
  return write_all(fd->get(), text, folder.path() / name);
}

// A folder that nobody has had before, with what its shim and its worker read.
Result<Folder> make_folder(const config::Program& program, const LaunchSpec& spec,
                           const std::filesystem::path& path) {
  if (auto ok = make_folders(path.parent_path()); !ok) return propagate(ok);
  auto parent = Folder::open(path.parent_path());
  if (!parent) return parent;
  auto folder = parent->make_new(path.filename().string());
  if (!folder) return folder;
  if (auto made = folder->make_new("tmp"); !made) return made;
  // Made here so that it can be watched before the shim writes its first record.
  if (auto ok = write_plainly(*folder, attempt_files::journal, "", 0640); !ok) return propagate(ok);
  auto config = write_plainly(*folder, worker_config, json::serialize(program.worker), 0640);
  if (!config) return propagate(config);
  if (auto ok = hand_over_attempt(program, *folder); !ok) return propagate(ok);
  auto launch = write_plainly(*folder, attempt_files::launch, to_json_text(spec), 0600);
  if (!launch) return propagate(launch);
  return folder;
}

LaunchIdentity identity_for(const config::Program& program, const LaunchSpec& spec) {
  return identity_of(spec, program.command.empty() ? json::serialize(program.worker) : "");
}

}  // namespace

Status end_leftovers(const config::Program& program, const Paths& paths, const Spared& spared) {
  containment::LeftoverQuery query;
  query.except_nonce = spared.nonce;
  if (!spared.nonce.empty()) query.except_attempt = std::to_string(spared.attempt);
  query.run = program.name;
  query.checkpoint_dir = paths.checkpoints(program.name);
  query.attempts = paths.attempt(program.name, 1).parent_path();
  query.cgroup_prefix = containment::cgroup_prefix(paths.state, program.name);
  const containment::Cleared cleared = containment::clear_leftovers(query);
  if (cleared.killed > 0) {
    spdlog::warn("{}: ended {} process{} that an earlier attempt had left", program.name,
                 cleared.killed, cleared.killed == 1 ? "" : "es");
  }
  if (cleared.survivors.empty()) return {};
  return fail(ErrorKind::transient,
              "the kernel does not let go of what an earlier attempt left: " +
                  containment::to_string(cleared.survivors),
              program.name, "a driver or a disk holds them; a reboot ends them");
}

Result<std::unique_ptr<Standby>> start_standby(Loop& loop, const config::Program& program,
                                               const LaunchOrder& expected, const Paths& paths,
                                               const std::string& running,
                                               std::function<void()> changed) {
  const std::filesystem::path all = paths.standbys(program.name);
  clear_standbys(all, running);
  const std::filesystem::path folder = all / expected.nonce;
  LaunchSpec spec = make_spec(program, expected, paths, folder);
  spec.cgroup += containment::standby_suffix;
  auto made = make_folder(program, spec, folder);
  if (!made) return propagate(made);
  std::vector<std::string> command =
      scope_prefix(paths.programs, program.name, expected.attempt, program.deadlines.stop_ms);
  command.push_back(paths.program("trainward-shim").string());
  LaunchIdentity identity = identity_for(program, spec);
  return Standby::start(loop, std::move(command),
                        config::without_withheld(program, config::environment_from(::environ)),
                        std::move(identity), folder, spec.cgroup, std::move(changed));
}

Result<Launched> launch(const config::Program& program, const LaunchOrder& order,
                        const Paths& paths, Fd program_lease, Leases leases, Standby* standby) {
  if (!program_lease) {
    auto taken = take_lease(paths.program_lease(program.name));
    if (!taken) return propagate(taken);
    program_lease = std::move(*taken);
  }
  for (const hwprobe::Board* board : boards_of(order)) {
    if (leases.contains(board->serial)) continue;
    auto taken = take_lease(paths.board_lease(board->serial));
    if (!taken) return propagate(taken);
    leases.emplace(board->serial, std::move(*taken));
  }
  const std::filesystem::path folder = paths.attempt(program.name, order.attempt);
  const LaunchSpec spec = make_spec(program, order, paths, folder);
  if (auto ok = make_folders(paths.checkpoints(program.name)); !ok) return propagate(ok);
  auto made = make_folder(program, spec, folder);
  if (!made) return propagate(made);
  fault_point("launch.prepared");
  auto null = open_file("/dev/null", O_RDWR);
  auto log = made->open_file(attempt_files::shim_log, O_WRONLY | O_CREAT | O_APPEND, 0640);
  if (!null) return propagate(null);
  if (!log) return propagate(log);
  std::vector<int> held{program_lease.get()};
  for (const auto& [serial, lease] : leases) held.push_back(lease.get());
  Launched launched;
  if (standby != nullptr) {
    launched.unused = difference(standby->identity(), identity_for(program, spec));
    Status begun;
    if (launched.unused.empty()) begun = standby->begin(folder, held);
    if (!begun) launched.unused = begun.error().message();
    if (launched.unused.empty()) {
      fault_point("launch.spawned");
      launched.shim = standby->pid();
      launched.from_standby = true;
      return launched;
    }
  }
  std::vector<int> fds{null->get(), log->get(), log->get()};
  fds.insert(fds.end(), held.begin(), held.end());
  std::vector<std::string> command =
      scope_prefix(paths.programs, program.name, order.attempt, program.deadlines.stop_ms);
  command.push_back(paths.program("trainward-shim").string());
  command.push_back(folder.string());
  auto pid =
      spawn(command, fds, config::without_withheld(program, config::environment_from(::environ)));
  fault_point("launch.spawned");
  if (!pid) return propagate(pid);
  launched.shim = *pid;
  return launched;
}

}  // namespace trainward::daemon
