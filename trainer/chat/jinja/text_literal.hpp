// The text between the quotes of a literal, its escapes read as Python reads them. An unknown
// escape stays as written. Errors: usage, for \N{…} and numbers that are no character. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::trainer::jinja {

Result<std::string> unescaped(std::string_view literal);

}  // namespace trainward::trainer::jinja
