// The page on which somebody logs in, without script and readable in any browser.
#pragma once

#include <string_view>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

// `said`: what is to be told first, such as that a token is wrong; empty: nothing. `takes_tokens`:
// whether there are any, and so a form for them. `style`: the address of its style sheet; empty: it
// has none.
Response login_page(int status, std::string_view said, bool takes_tokens, std::string_view style);

// Elsewhere, by GET, and nobody keeps it.
Response see_other(const std::string& path);

}  // namespace trainward::api
