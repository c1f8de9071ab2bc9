// A described host that is like another, but for what it says otherwise:
//
//   like: t3k.yaml                       # in the same folder, and like none itself
//   boards: [{serial: …, chips: [{id: R, heartbeat: frozen}]}]
//
// A board is the one with the same serial number, a chip the one with the same id, an entry of
// `links` the one with the same two ends, letter by letter; the other file must have them. Of
// anything else what stands here counts.
#pragma once

#include <vector>

#include "common/yaml/document.hpp"

namespace trainward::hwprobe {

// The boards of `base`, changed by those of `changes`; what is to be changed and is not there is
// added to `problems`. Pure.
yaml::Node changed_boards(const yaml::Node& base, const yaml::Node& changes,
                          std::vector<yaml::Problem>& problems);

}  // namespace trainward::hwprobe
