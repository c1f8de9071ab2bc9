// What the management processor (ARC) of a chip is doing, by two of its scratch registers.
//
// In: the post code (SCRATCH0) and the message status (SCRATCH5), as far as they could be read.
// Sources: tt-kmd (the post code alone), tt-umd wait_arc_core_start, luwen check_arc_msg_safe.
#pragma once

#include <cstdint>
#include <optional>

#include "hwprobe/tenstorrent/facts.hpp"

namespace trainward::hwprobe {

ArcState arc_state(std::optional<std::uint32_t> post_code,
                   std::optional<std::uint32_t> message_status);

}  // namespace trainward::hwprobe
