// A recording that somebody sent. What is read is written the same; what it shows is judged without
// an access that a recording cannot answer.
#include "hwprobe/decode/board_facts.hpp"
#include "hwprobe/registers/addresses.hpp"
#include "hwprobe/registers/replay.hpp"
#include "hwprobe/report.hpp"
#include "hwprobe/verdict.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  const auto readings = hwprobe::parse_readings(fuzz::text_of(data, size), "input");
  if (!readings) {
    fuzz::require(readings.error().where.starts_with("input"), "a refusal says where");
    return 0;
  }
  for (const hwprobe::Reading& reading : *readings) {
    const std::string line = hwprobe::format(reading);
    fuzz::require(line.find('\n') == std::string::npos, "a reading is one line");
    fuzz::require(hwprobe::parse_reading(line) == reading, "what was written can be read");
  }

  hwprobe::ReplayRegisters replay(*readings);
  hwprobe::BoardFacts facts;
  hwprobe::Baselines baselines("boot");
  const hwprobe::ArcLook arc = hwprobe::look_at_arc(replay);
  hwprobe::add(arc, facts);
  hwprobe::add(hwprobe::look_at_ethernet(replay, hwprobe::wormhole::on_board_channels), arc,
               baselines, facts);
  hwprobe::Report report;
  report.source = "replay";
  report.boards.push_back(hwprobe::judge(facts));
  const auto again = hwprobe::report_from_json(hwprobe::to_json(report));
  fuzz::require(again.has_value(), "a report comes back from JSON");
  return 0;
}
