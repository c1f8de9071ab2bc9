#include "hwprobe/tenstorrent/look/host_look.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "hwprobe/tenstorrent/judge/verdict.hpp"
#include "hwprobe/tenstorrent/look/register_stages.hpp"
#include "hwprobe/tenstorrent/look/simulated_boards.hpp"
#include "hwprobe/tenstorrent/look/sysfs.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds bus_deadline{2'000};
constexpr milliseconds pci_deadline{2'000};
constexpr milliseconds attributes_deadline{5'000};

using FilesLook = void (*)(Files&, const std::string&, BoardFacts&, std::vector<Remark>&);

Beyond beyond(const StageResult& result) {
  return result.ending == Ending::finished ? Beyond::repeat_the_last : Beyond::not_recorded;
}

LiveFiles::Wait wait_of(const HostOptions& options) {
  if (options.wait) return options.wait;
  return [](milliseconds time) { std::this_thread::sleep_for(time); };
}

// A stage that reads files: the same function streams in the child and interprets in the parent.
ProbeStage files_stage(std::string name, milliseconds deadline, FilesLook look,
                       const HostOptions& options) {
  ProbeStage stage;
  stage.stage.name = std::move(name);
  stage.stage.deadline = deadline;
  stage.stage.body = [look, root = options.root, wait = wait_of(options)](
                         const std::string& board, const Emit& emit) -> Status {
    LiveFiles live(root, wait);
    RecordingFiles files(live, emit);
    BoardFacts facts;
    std::vector<Remark> remarks;
    look(files, board, facts, remarks);
    return {};
  };
  stage.interpret = [look](const StageResult& result, Interpretation& so_far) {
    ReplayFiles files(result.readings, beyond(result));
    look(files, so_far.facts.bus_id, so_far.facts, so_far.remarks);
  };
  return stage;
}

Stage bus_stage(const HostOptions& options) {
  Stage stage;
  stage.name = "bus";
  stage.deadline = bus_deadline;
  stage.body = [root = options.root, wait = wait_of(options)](const std::string&,
                                                              const Emit& emit) -> Status {
    LiveFiles live(root, wait);
    RecordingFiles files(live, emit);
    look_at_bus(files);
    return {};
  };
  return stage;
}

BusFacts bus_facts(const StageResult& result) {
  if (result.stage == "simulator") return {boards_in(result), true};
  ReplayFiles files(result.readings, beyond(result));
  return look_at_bus(files);
}

// The stage starts when those before it have finished and what they say allows it.
void add(std::vector<ProbeStage>& stages, ProbeStage stage, bool (*allows)(const Interpretation&)) {
  stage.stage.when = [earlier = stages, allows](const std::string& board,
                                                const std::vector<StageResult>& before) {
    const bool finished = std::all_of(before.begin(), before.end(), [](const StageResult& result) {
      return result.ending == Ending::finished;
    });
    return finished && allows(interpret(board, before, earlier));
  };
  stages.push_back(std::move(stage));
}

// A board that has left the bus, or has no driver, answers nothing that could be asked next.
bool answers(const Interpretation& so_far) {
  return !so_far.facts.off_bus && so_far.facts.has_driver;
}

// A device that is being reset is not opened.
bool may_be_opened(const Interpretation& so_far) {
  const auto resets = [](const Remark& remark) { return remark.verdict == Verdict::resetting; };
  return answers(so_far) && std::none_of(so_far.remarks.begin(), so_far.remarks.end(), resets);
}

Evidence nothing_found(bool has_driver) {
  if (has_driver) {
    return {"the tenstorrent driver is loaded, but no board is on the PCI bus",
            "power-cycle the host; if it stays, check that the board sits in its slot"};
  }
  return {"no Tenstorrent board is on the PCI bus",
          "on a host without a board, describe one in a file (--host FILE)"};
}

// What the look at the bus says of the host. An error: it could not be looked at.
Result<BusFacts> judge_bus(const BoardLook& look, Report& report) {
  BusFacts bus;
  for (const StageResult& result : look.stages) {
    bus = bus_facts(result);
    const std::vector<Remark> remarks = remarks_on(result);
    if (!remarks.empty() && !bus.boards) {
      return fail(ErrorKind::transient, remarks.front().evidence.what,
                  result.stage == "simulator" ? "the simulator" : "the PCI bus",
                  remarks.front().evidence.advice);
    }
    for (const Remark& remark : remarks) report.evidence.push_back(remark.evidence);
  }
  return bus;
}

std::vector<Board> judge_boards(const std::vector<BoardLook>& looks,
                                const std::vector<ProbeStage>& stages) {
  std::vector<BoardFacts> facts;
  std::vector<std::vector<Remark>> remarks;
  for (const BoardLook& look : looks) {
    if (!is_board(look)) continue;
    Interpretation found = interpret(look.board, look.stages, stages);
    facts.push_back(std::move(found.facts));
    remarks.push_back(std::move(found.remarks));
  }
  std::vector<Board> boards = judge_host(std::move(facts));
  for (std::size_t i = 0; i < boards.size(); ++i) {
    for (const Remark& remark : remarks[i]) add(boards[i], remark);
  }
  return boards;
}

}  // namespace

bool is_board(const BoardLook& look) { return look.board != bus_look && look.board != tt_smi_look; }

std::vector<ProbeStage> probe_stages(const HostOptions& options) {
  std::vector<ProbeStage> stages;
  if (!options.simulator.empty()) {
    const OpenRegisters open = simulated_registers(options.simulator);
    stages.push_back(registers_stage(open));
    add(stages, ethernet_stage(open, options.state), links_can_be_read);
    return stages;
  }
  const OpenRegisters open = card_registers(options);
  stages.push_back(files_stage("pci", pci_deadline, look_at_pci, options));
  add(stages, files_stage("attributes", attributes_deadline, look_at_attributes, options), answers);
  add(stages, registers_stage(open), may_be_opened);
  add(stages, ethernet_stage(open, options.state), links_can_be_read);
  return stages;
}

std::vector<BoardLook> look_at_host(const HostOptions& options,
                                    const std::vector<ProbeStage>& stages, Processes& processes) {
  const std::vector<Stage> bus{options.simulator.empty() ? bus_stage(options)
                                                         : simulator_stage(options.simulator)};
  std::vector<BoardLook> looks =
      run_stages({std::string(bus_look)}, bus, options.state, processes, options.limits);
  const auto boards = bus_facts(looks.front().stages.front()).boards;
  if (!boards || boards->empty()) return looks;
  std::vector<Stage> each;
  each.reserve(stages.size());
  for (const ProbeStage& stage : stages) each.push_back(stage.stage);
  auto more = run_stages(*boards, each, options.state, processes, options.limits);
  looks.insert(looks.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  return looks;
}

Result<Report> report_of(const std::vector<BoardLook>& looks, const std::vector<ProbeStage>& stages,
                         std::string source) {
  Report report;
  report.source = std::move(source);
  BusFacts bus;
  for (const BoardLook& look : looks) {
    if (look.board != bus_look) continue;
    auto judged = judge_bus(look, report);
    if (!judged) return propagate(judged);
    bus = std::move(*judged);
  }
  report.boards = judge_boards(looks, stages);
  if (!report.boards.empty()) return report;
  if (!bus.boards) {
    return fail(ErrorKind::permanent, "cannot list the PCI devices", "/sys/bus/pci/devices",
                "this machine shows no PCI bus; name a described host instead");
  }
  report.evidence.push_back(nothing_found(bus.has_driver));
  return report;
}

}  // namespace trainward::hwprobe
