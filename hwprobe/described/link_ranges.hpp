// Links written several at a time: "L:8-11" to "010003510000a012/L:4-7" are four links, L:8 to
// L:4, L:9 to L:5 and so on. Ends without a range are one link. Chips are L and R. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

// Kind usage for what is no end, and for ranges that do not match, run backwards or leave the
// channels of a chip.
Result<std::vector<std::pair<std::string, std::string>>> links_between_ends(const std::string& from,
                                                                            const std::string& to);

}  // namespace trainward::hwprobe
