// JSON for files that people open: indented by two, members in their order, numbers as Python
// writes them (1e-05, 10000.0), so that a file comes out as transformers would have written it.
#pragma once

#include <string>

#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

// Without a line end behind it.
std::string indented_json(const json::value& value);

}  // namespace trainward::checkpoint::huggingface
