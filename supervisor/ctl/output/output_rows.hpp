// Fields of documents that come from elsewhere: what is missing or mistyped is left out or shows as
// "-", never a failure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/json/json.hpp"
#include "supervisor/decide/view/view_rows.hpp"

namespace trainward::ctl {

using views::count_or_dash;
using views::for_each_row;
using views::list_in;
using views::or_dash;
using views::size_or;

// A value as people write it: text without quotes, everything else as JSON, cut when it is long.
std::string plain(const json::object& object, std::string_view key);

}  // namespace trainward::ctl
