// The API, version 1 (docs/api.md): a line a request. What is on record is read by the reader; what
// runs, and everything that changes something, is asked of the Control.
#pragma once

#include "supervisor/window/api/http/http.hpp"
#include "supervisor/window/api/routes/feed.hpp"
#include "supervisor/window/api/routes/route_table.hpp"

namespace trainward::api {

void add_routes(Table& table, Feed& feed);

// Its parts, by what they do.
void add_documents(Table& table);  // what is on record
void add_commands(Table& table);   // what changes something
void add_logs(Table& table);
void add_stream(Table& table, Feed& feed);  // news as they come
void add_about(Table& table);               // of the daemon and of the API itself
void add_metrics(Table& table);             // for monitoring

// To the rows of the programs what only the daemon knows of them.
void add_trouble(Control& control, json::array& programs);

// All of it and nothing else. They must outlive the handler.
Handler make_routes(Control& control, Reader& reader, Feed& feed);

}  // namespace trainward::api
