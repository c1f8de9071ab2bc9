// What looks at registers add to the facts about a board.
//
// In: a look, and the facts that other sources (the kernel's attributes) gathered before. Out: the
// facts with what the look saw: it overrides the kernel's word only where it is nearer to the chip.
// Pure, except that counters are compared with their baselines.
#pragma once

#include "hwprobe/tenstorrent/decode/arc.hpp"
#include "hwprobe/tenstorrent/decode/baselines.hpp"
#include "hwprobe/tenstorrent/decode/ethernet.hpp"
#include "hwprobe/tenstorrent/decode/facts.hpp"

namespace trainward::hwprobe {

void add(const ArcLook& look, BoardFacts& facts);

// The links of an N300; nothing for other boards, whose channels 8 and 9 may lead nowhere.
// `arc` tells which board and chip it is, as far as it saw.
void add(const EthernetLook& look, const ArcLook& arc, Baselines& baselines, BoardFacts& facts);

}  // namespace trainward::hwprobe
