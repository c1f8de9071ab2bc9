// Output of nvidia-smi: whatever is accepted is a report that the daemon reads back.
#include "hwprobe/nvidia/nvidia_verdict.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  const auto report = hwprobe::read_nvidia_smi(fuzz::text_of(data, size), "input");
  if (!report) {
    fuzz::require(!report.error().what.empty(), "a refusal says why");
    return 0;
  }
  const json::object written = hwprobe::to_json(*report);
  // Through text, as between the programs.
  const auto parsed = parse_json(json::serialize(written), "report");
  fuzz::require(parsed.has_value(), "the report is JSON");
  const auto again = hwprobe::report_from_json(*parsed);
  fuzz::require(again.has_value(), "the daemon reads the report");
  fuzz::require(!report->boards.empty() || !report->evidence.empty(), "it says something");
  return 0;
}
