// A described host that is like another, but for what it says otherwise:
//
//   like: t3k.yaml                       # in the same folder, and like none itself
//   boards: [{serial: …, chips: [{id: R, heartbeat: frozen}]}]
//
// A board is the one with the same serial number, a chip the one with the same id, an entry of
// `links` the one with the same two ends, letter by letter; those that the other file has not are
// added. Of anything else what stands here counts.
#pragma once

#include <string_view>

#include "common/yaml/document.hpp"

namespace trainward::hwprobe {

// The boards of `base`, changed by those of `changes`. Pure.
yaml::Node changed_boards(const yaml::Node& base, const yaml::Node& changes);

}  // namespace trainward::hwprobe
