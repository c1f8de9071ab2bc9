// A recording that somebody sent. What is read is written the same; what it shows is judged without
// an access that a recording cannot answer.
#include "common/base/line_splitter.hpp"
#include "hwprobe/report/report.hpp"
#include "hwprobe/tenstorrent/decode/board_facts.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"
#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/register_recording.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  std::vector<hwprobe::Reading> readings;
  LineSplitter lines(std::size_t{1} << 16);
  lines.feed(fuzz::text_of(data, size), [&](std::string_view line, std::int64_t) {
    if (auto reading = hwprobe::parse_reading(line)) readings.push_back(std::move(*reading));
  });

  hwprobe::ReplayRegisters replay(readings);
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
