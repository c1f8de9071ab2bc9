// The platform that a plugin's client had last, kept in the program cache.
//
// Compiling without a device needs it: programs are kept under what a client will ask for, and what
// that is only a client knows. It is kept as an entry of the cache like a program.
#pragma once

#include <optional>
#include <string>

#include "common/program_cache/program_cache.hpp"
#include "trainer/pjrt/platform.hpp"

namespace trainward::pjrt {

// Writes only what has changed. `plugin_digest` is the plugin file's.
Status remember_platform(const ProgramCache& cache, const std::string& plugin_digest,
                         const Platform& platform);

// Nothing: no client has run with this cache yet, or what it left cannot be read.
std::optional<Platform> remembered_platform(const ProgramCache& cache,
                                            const std::string& plugin_digest);

}  // namespace trainward::pjrt
