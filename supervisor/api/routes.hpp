// The API, version 1 (docs/api.md): a line a request. What is on record is read from the store;
// what runs, and everything that changes something, is asked of the Control.
#pragma once

#include "supervisor/api/control.hpp"
#include "supervisor/api/http.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::api {

// Both must outlive the handler, which reads the store on the thread that calls it.
Handler make_routes(Control& control, const store::Store& store);

}  // namespace trainward::api
