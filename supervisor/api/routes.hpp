// The paths of the API, version 1 (docs/api.md), onto a Control.
#pragma once

#include "supervisor/api/control.hpp"
#include "supervisor/api/http.hpp"

namespace trainward::api {

// `control` must outlive the handler.
Handler make_routes(Control& control);

}  // namespace trainward::api
