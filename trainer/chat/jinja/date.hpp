// The day that strftime_now tells. Training data must not change from one day to the next, so it is
// always 26 July 2024, 00:00:00 (the day that Llama 3.2's own template has where there is no
// clock), written by the codes of strftime. Errors: usage, for a code that is not known. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::trainer::jinja {

Result<std::string> pinned_date(std::string_view format);

}  // namespace trainward::trainer::jinja
