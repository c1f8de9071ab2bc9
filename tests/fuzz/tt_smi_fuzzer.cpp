// Snapshots of tt-smi: whatever is accepted is a report that the daemon reads back, whose boards
// have names of their own.
#include <set>
#include <string>

#include "hwprobe/tenstorrent/tt_smi/tt_smi.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  const auto report = hwprobe::read_tt_smi(fuzz::text_of(data, size), "input");
  if (!report) {
    fuzz::require(!report.error().what.empty(), "a refusal says why");
    return 0;
  }
  const json::object written = hwprobe::to_json(*report);
  const auto again = hwprobe::report_from_json(written);
  fuzz::require(again.has_value(), "the daemon reads the report");
  fuzz::require(hwprobe::to_json(*again) == written, "and it says the same");
  std::set<std::string> serials;
  for (const hwprobe::Board& board : report->boards) {
    fuzz::require(serials.insert(board.serial).second, "a serial number names one board");
  }
  return 0;
}
