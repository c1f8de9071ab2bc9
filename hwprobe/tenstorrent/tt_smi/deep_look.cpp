#include "hwprobe/tenstorrent/tt_smi/deep_look.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "common/base/text.hpp"
#include "common/terminal/display_text.hpp"
#include "hwprobe/report/finding.hpp"
#include "hwprobe/stages/probe_output.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"
#include "hwprobe/tenstorrent/look/sysfs.hpp"
#include "hwprobe/tenstorrent/tt_smi/tt_smi.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::chrono::milliseconds deadline{120'000};
// As much as the readings of one stage may hold, with what escaping adds.
constexpr std::size_t max_output_bytes = 2 * 1024 * 1024;
constexpr const char* stage_name = "snapshot";
constexpr std::string_view how_far = "chip R is known by its links only";

bool holders_were_read(const BoardLook& look) {
  const std::string key = fmt::format("file {}/", holders_folder);
  return std::any_of(look.stages.begin(), look.stages.end(), [&](const StageResult& result) {
    return std::any_of(result.readings.begin(), result.readings.end(), [&](const Reading& reading) {
      return reading.key.starts_with(key) && reading.error.empty();
    });
  });
}

// Why tt-smi must not open this board; empty: it may.
std::string objection(const BoardLook& look, const std::vector<ProbeStage>& stages) {
  const Interpretation found = interpret(look.board, look.stages, stages);
  const BoardFacts& facts = found.facts;
  if (!facts.holders.empty()) {
    return fmt::format("in use by process {}", fmt::join(facts.holders, ", "));
  }
  if (facts.held_alone) return "in use";
  if (!found.remarks.empty()) return "not to be asked: it did not answer this look";
  // It waits for minutes for what is dead, and some hosts have not survived that.
  const Verdict verdict = judge(facts).verdict;
  if (!usable(verdict) && verdict != Verdict::unknown) {
    return fmt::format("not to be asked: it is {}", to_string(verdict));
  }
  // A driver before 2.5 does not tell.
  if (!holders_were_read(look)) return "perhaps in use: its driver does not tell";
  return "";
}

std::string objection(const std::vector<BoardLook>& looks, const std::vector<ProbeStage>& stages) {
  bool any = false;
  for (const BoardLook& look : looks) {
    if (!is_board(look)) continue;
    any = true;
    const std::string why = objection(look, stages);
    if (!why.empty()) return fmt::format("board {} is {}", look.board, why);
  }
  return any ? "" : "there is no board";
}

Chip* chip_of(Board& board, std::string_view id) {
  const auto found = std::find_if(board.chips.begin(), board.chips.end(),
                                  [&](const Chip& chip) { return chip.id == id; });
  return found == board.chips.end() ? nullptr : &*found;
}

// Chip R as tt-smi knows it; L is known better from here.
void merge_right(const Chip& right, Board& board) {
  Chip* known = chip_of(board, right.id);
  if (known == nullptr) {
    board.chips.push_back({right.id, Verdict::ok, "", 0, {}});
    known = &board.chips.back();
  }
  // It had not been asked before: that is not worse than what it says now.
  if (known->verdict == Verdict::unknown && known->evidence.empty()) known->verdict = Verdict::ok;
  known->confidence = right.confidence;
  if (right.temperature_c != 0) known->temperature_c = right.temperature_c;
  std::vector<Finding> findings;
  for (const Evidence& evidence : right.evidence) findings.push_back({right.verdict, evidence});
  if (right.verdict == Verdict::unknown) known->verdict = Verdict::unknown;
  add_findings(board, *known, std::move(findings));
}

void merge(const Report& snapshot, Report& report) {
  for (const Board& seen : snapshot.boards) {
    for (Board& board : report.boards) {
      if (lower_case(seen.serial) != lower_case(board.serial) || seen.serial.empty()) continue;
      for (const Chip& chip : seen.chips) {
        if (chip.id == "R") merge_right(chip, board);
      }
    }
  }
}

Evidence not_told(std::string why, std::string advice = "") {
  return {fmt::format("{}: {}", std::move(why), how_far), std::move(advice)};
}

void add_result(const StageResult& result, Report& report) {
  const ProgramOutput said = program_output(result.readings);
  const auto add = [&](Evidence evidence) { report.evidence.push_back(std::move(evidence)); };
  if (result.ending == Ending::not_started || result.ending == Ending::locked) {
    return add(not_told(fmt::format("tt-smi was not asked, {}", shortened(result.detail, 300))));
  }
  if (!said.error.empty()) {
    return add(not_told(said.error == "ENOENT"
                            ? "tt-smi is not installed"
                            : fmt::format("tt-smi cannot be started ({})", said.error),
                        "put tt-smi into the PATH of this program, or leave out --deep"));
  }
  if (result.ending != Ending::finished) {
    const std::string detail =
        result.detail.empty() ? human_duration(result.took_ms) : shortened(result.detail, 300);
    return add(
        not_told(fmt::format("tt-smi gave no answer ({}, {})", to_string(result.ending), detail),
                 "run tt-smi -s --snapshot_no_tty by hand and see where it stops"));
  }
  auto snapshot = read_tt_smi(said.output, "tt-smi");
  if (!snapshot || said.exit != "0") {
    const std::string why = !said.complaint.empty() ? std::string(trim(said.complaint))
                                                    : (snapshot ? "" : snapshot.error().message());
    return add(not_told(fmt::format("tt-smi ended with {} and without a snapshot ({})", said.exit,
                                    shortened(why, 300))));
  }
  merge(*snapshot, report);
}

}  // namespace

BoardLook look_through_tt_smi(const std::vector<BoardLook>& looks,
                              const std::vector<ProbeStage>& stages, const HostOptions& options,
                              Processes& processes) {
  const std::string name(tt_smi_look);
  const std::string why = objection(looks, stages);
  if (!why.empty()) return {name, {{stage_name, Ending::not_started, why, {}, 0}}};
  Stage stage;
  stage.name = stage_name;
  stage.deadline = deadline;
  stage.body = [](const std::string&, const Emit& emit) {
    return emit_output({"tt-smi", "-s", "--snapshot_no_tty"}, max_output_bytes, emit);
  };
  const std::vector<Stage> only{std::move(stage)};
  return run_stages({name}, only, options.state, processes, options.limits).front();
}

void add_tt_smi(const std::vector<BoardLook>& looks, Report& report) {
  if (report.boards.empty()) return;
  for (const BoardLook& look : looks) {
    if (look.board != tt_smi_look) continue;
    for (const StageResult& result : look.stages) add_result(result, report);
  }
}

}  // namespace trainward::hwprobe
