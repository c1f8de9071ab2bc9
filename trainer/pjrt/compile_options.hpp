// The options a program is compiled with, as the bytes of XLA's CompileOptionsProto. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace trainward::pjrt {

// For a program that `replicas` devices run together, the first ones of the client: one partition,
// and for more than one replica the devices by number. Every plugin takes these; XLA's refuse empty
// bytes, Tenstorrent's looks at the devices only.
std::string compile_options(std::int64_t replicas);

}  // namespace trainward::pjrt
