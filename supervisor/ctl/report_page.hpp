// The page of a run as one file: the same as the daemon's, with its style in it, without a script
// and with nothing to fetch.
#pragma once

#include <filesystem>
#include <string>

#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl {

// Writes it to `file`, whole or not at all, in place of what is there; "-": to stdout. From the
// daemon, or the database when none answers. Returns the exit code.
int write_report_page(const Context& context, const std::string& program,
                      const std::filesystem::path& file);

}  // namespace trainward::ctl
