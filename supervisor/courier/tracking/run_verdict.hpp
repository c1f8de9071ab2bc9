// Verdicts as markdown, for trackers that show texts. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "supervisor/record/store/rows/rows.hpp"

namespace trainward::tracking {

// Text that markdown and HTML leave as it is, on one line.
std::string plain_markdown(std::string_view text);

// Why an attempt that has ended did so, what was kept of it and what was done about it.
std::string verdict_markdown(const store::AttemptRow& attempt);

}  // namespace trainward::tracking
