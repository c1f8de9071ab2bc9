// Compiling programs into the cache where there is no device, for a client that will have one.
#pragma once

#include <cstdint>
#include <string>

#include "common/program_cache/program_cache.hpp"
#include "trainer/pjrt/compiler.hpp"
#include "trainer/pjrt/topology.hpp"

namespace trainward::pjrt {

// Puts the program under the key that a client of the same plugin will ask for, unless it is there.
// That key takes the client's words for its platform and devices: those that the last client with
// this cache had, or else the topology's. An error (unimplemented) for a plugin that is known not
// to load what it compiles: nothing could use the program. Any thread.
Result<Compiled> compile_without_device(const Topology& topology, const ProgramCache& cache,
                                        const std::string& name, const std::string& text,
                                        std::int64_t replicas = 1);

}  // namespace trainward::pjrt
