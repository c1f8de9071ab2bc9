// The compiled programs that attempts share, as the cache commands look at them. No daemon is
// needed; one may be at work meanwhile, and what its workers hold is left alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/program_cache/program_cache.hpp"
#include "supervisor/ctl/base/cli.hpp"

namespace trainward::ctl {

// The option that names another cache: `folder` stays empty without it.
void add_cache_folder(const Verb& verb, std::string& folder);

// STATE_DIR/cache/programs.
std::string default_path(const Context& context);

// Nothing when nobody has compiled anything yet: looking makes no folder. Kind usage when a folder
// that was named is not a cache.
Result<std::optional<ProgramCache>> open_cache(const Context& context, const std::string& folder);

json::object json_of_cached(const ProgramEntry& entry);
json::array rows_of(const std::vector<ProgramEntry>& entries);

// "block_forward 3f2a9c01b2d4"
std::string label_of(const ProgramEntry& entry);

// Exit codes; each prints.
int cache_failed(const Context& context, const Error& error);
int tell_empty(const Context& context, json::object document);

}  // namespace trainward::ctl
