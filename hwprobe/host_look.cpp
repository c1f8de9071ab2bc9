#include "hwprobe/host_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "hwprobe/sysfs.hpp"
#include "hwprobe/verdict.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds bus_deadline{2'000};
constexpr milliseconds pci_deadline{2'000};
constexpr milliseconds attributes_deadline{5'000};
const char* const bus_board = "bus";

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
  stage.interpret = [look](const StageResult& result, const std::string& board, BoardFacts& facts,
                           std::vector<Remark>& remarks) {
    ReplayFiles files(result.readings, beyond(result));
    look(files, board, facts, remarks);
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
  ReplayFiles files(result.readings, beyond(result));
  return look_at_bus(files);
}

// A board that has left the bus, or has no driver, answers nothing that could be asked next.
bool answers(const std::string& board, const std::vector<StageResult>& before) {
  BoardFacts facts;
  std::vector<Remark> remarks;
  for (const StageResult& result : before) {
    if (result.ending != Ending::finished) return false;
    ReplayFiles files(result.readings, beyond(result));
    look_at_pci(files, board, facts, remarks);
  }
  return !facts.off_bus && facts.has_driver;
}

Board judge_look(const BoardLook& look, const std::vector<ProbeStage>& stages) {
  BoardFacts facts;
  facts.bus_id = look.board;
  std::vector<Remark> remarks;
  for (const StageResult& result : look.stages) {
    const auto known = std::find_if(stages.begin(), stages.end(), [&](const ProbeStage& candidate) {
      return candidate.stage.name == result.stage;
    });
    // A recording may have stages of a newer program.
    if (known != stages.end()) known->interpret(result, look.board, facts, remarks);
    std::vector<Remark> own = remarks_on(result);
    remarks.insert(remarks.end(), std::make_move_iterator(own.begin()),
                   std::make_move_iterator(own.end()));
  }
  Board board = judge(facts);
  for (const Remark& remark : remarks) add(board, remark);
  return board;
}

Evidence nothing_found(bool has_driver) {
  if (has_driver) {
    return {"the tenstorrent driver is loaded, but no board is on the PCI bus",
            "power-cycle the host; if it stays, check that the board sits in its slot"};
  }
  return {"no Tenstorrent board is on the PCI bus",
          "on a host without a board, describe one in a file (--host FILE)"};
}

}  // namespace

std::vector<ProbeStage> probe_stages(const HostOptions& options) {
  std::vector<ProbeStage> stages;
  stages.push_back(files_stage("pci", pci_deadline, look_at_pci, options));
  stages.push_back(files_stage("attributes", attributes_deadline, look_at_attributes, options));
  stages.back().stage.when = answers;
  return stages;
}

std::vector<BoardLook> look_at_host(const HostOptions& options,
                                    const std::vector<ProbeStage>& stages, Processes& processes) {
  const std::vector<Stage> bus{bus_stage(options)};
  std::vector<BoardLook> looks =
      run_stages({bus_board}, bus, options.state, processes, options.limits);
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
    if (look.board != bus_board) {
      report.boards.push_back(judge_look(look, stages));
      continue;
    }
    for (const StageResult& result : look.stages) {
      bus = bus_facts(result);
      const std::vector<Remark> remarks = remarks_on(result);
      if (!remarks.empty() && !bus.boards) {
        return fail(ErrorKind::transient, remarks.front().evidence.what, "the PCI bus",
                    remarks.front().evidence.advice);
      }
      for (const Remark& remark : remarks) report.evidence.push_back(remark.evidence);
    }
  }
  if (!report.boards.empty()) return report;
  if (!bus.boards) {
    return fail(ErrorKind::permanent, "cannot list the PCI devices", "/sys/bus/pci/devices",
                "this machine shows no PCI bus; name a described host instead");
  }
  report.evidence.push_back(nothing_found(bus.has_driver));
  return report;
}

}  // namespace trainward::hwprobe
