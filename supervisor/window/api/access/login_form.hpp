// The fields of a form, as browsers send them (application/x-www-form-urlencoded). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::api {

// Of several of one name the last. Nothing when an escape is invalid, or the whole is not UTF-8.
std::optional<std::map<std::string, std::string>> form_fields(std::string_view body);

}  // namespace trainward::api
