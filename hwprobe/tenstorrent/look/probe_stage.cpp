#include "hwprobe/tenstorrent/look/probe_stage.hpp"

#include <algorithm>
#include <iterator>

namespace trainward::hwprobe {

Interpretation interpret(const std::string& board, std::span<const StageResult> results,
                         std::span<const ProbeStage> stages) {
  Interpretation out;
  out.facts.bus_id = board;
  for (const StageResult& result : results) {
    const auto known = std::find_if(stages.begin(), stages.end(), [&](const ProbeStage& candidate) {
      return candidate.stage.name == result.stage;
    });
    if (known != stages.end()) known->interpret(result, out);
    std::vector<Remark> own = remarks_on(result);
    out.remarks.insert(out.remarks.end(), std::make_move_iterator(own.begin()),
                       std::make_move_iterator(own.end()));
  }
  return out;
}

}  // namespace trainward::hwprobe
