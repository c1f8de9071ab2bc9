// A recording of trainward-probe, from whoever sent it: as text, and as the report that is made of
// it.
#include <string>

#include "common/base/json/json.hpp"
#include "hwprobe/draw/board_table.hpp"
#include "hwprobe/stages/recording.hpp"
#include "hwprobe/tenstorrent/look/host_look.hpp"
#include "hwprobe/tenstorrent/tt_smi/deep_look.hpp"
#include "require.hpp"

namespace trainward::fuzz {
namespace {

void check(std::string_view text) {
  const auto looks = hwprobe::looks_from_text(text);
  if (!looks) {
    require(!looks.error().what.empty(), "a refusal says why");
    return;
  }
  const std::string written = hwprobe::to_text(*looks);
  const auto again = hwprobe::looks_from_text(written);
  require(again.has_value(), "what was accepted can be written and read again");
  require(*again == *looks, "and says the same");
  auto report = hwprobe::report_of(*looks, hwprobe::probe_stages({}), "replay");
  if (!report) return;
  hwprobe::add_tt_smi(*looks, *report);
  (void)hwprobe::to_table(*report);
  require(parse_json(json::serialize(hwprobe::to_json(*report)), "report").has_value(),
          "its report is JSON");
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trainward::fuzz::check(trainward::fuzz::text_of(data, size));
  return 0;
}
