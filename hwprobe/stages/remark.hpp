// What is said of a board beyond its facts: how the look at it went.
#pragma once

#include "hwprobe/report/report.hpp"
#include "hwprobe/stages/stage.hpp"

namespace trainward::hwprobe {

struct Remark {
  Verdict verdict = Verdict::ok;
  Evidence evidence;
};

// The verdicts of the board and its chips become the remark's where that is worse, or where it is
// no more than UNKNOWN but keeps a run away; its evidence comes first then.
void add(Board& board, const Remark& remark);

// What the ending of a stage says of the board; nothing for one that has finished.
std::vector<Remark> remarks_on(const StageResult& stage);

}  // namespace trainward::hwprobe
