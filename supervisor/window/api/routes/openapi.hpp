// The API's own description, OpenAPI 3.1: openapi.json of this folder, written by hand, part of the
// program.
#pragma once

#include <string_view>

namespace trainward::api {

std::string_view openapi_json();

}  // namespace trainward::api
