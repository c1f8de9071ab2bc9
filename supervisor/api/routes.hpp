// The API, version 1 (docs/api.md): a line a request. What is on record is read by the reader; what
// runs, and everything that changes something, is asked of the Control.
#pragma once

#include "supervisor/api/http.hpp"
#include "supervisor/api/table.hpp"

namespace trainward::api {

void add_routes(Table& table);

// Its parts, by what they do.
void add_documents(Table& table);  // what is on record
void add_commands(Table& table);   // what changes something
void add_logs(Table& table);

// All of it and nothing else. Both must outlive the handler.
Handler make_routes(Control& control, Reader& reader);

}  // namespace trainward::api
