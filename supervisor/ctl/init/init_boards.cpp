#include <fmt/format.h>

#include "common/base/text.hpp"
#include "hwprobe/report/report.hpp"
#include "supervisor/ctl/init/surroundings.hpp"
#include "supervisor/ctl/logs/program_output.hpp"

namespace trainward::ctl {

std::vector<std::string> look_for_boards() {
  const auto document =
      parse_json(output_of_program("trainward-probe", {"--json"}), "trainward-probe");
  if (!document) return {};
  const auto report = hwprobe::report_from_json(*document);
  if (!report) return {};
  std::vector<std::string> lines;
  for (const hwprobe::Board& board : report->boards) {
    lines.push_back(clean(
        fmt::format("{} {}: {}", board.type, board.serial, hwprobe::to_string(board.verdict))));
  }
  return lines;
}

}  // namespace trainward::ctl
