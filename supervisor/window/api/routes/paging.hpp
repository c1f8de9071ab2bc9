// Lists that grow, a page at a time: `after` is the key of the last row that is known already, and
// `limit` the most rows wanted. Where more follow, the answer's header names the next page
// (`Link: <…>; rel="next"`). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/window/api/routes/router.hpp"

namespace trainward::api {

// The two parameters.
std::vector<Parameter> paged(std::vector<Parameter> parameters = {});

// Of rows in the order of `key`, a whole number in each: those beyond `after`, at most `limit`.
// Rows of one key stay together, so that a page may be longer than asked for and none is ever
// missed.
Response page_of(json::array rows, const Asked& asked, const std::string& key, std::int64_t limit);
Response page_of(Result<json::array> rows, const Asked& asked, const std::string& key);

}  // namespace trainward::api
