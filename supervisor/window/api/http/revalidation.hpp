// Polling that costs nothing while nothing changes: an answer to GET carries a mark of what it says
// (ETag), and who sends the mark back (If-None-Match) gets 304 instead of what it has already.
// Pure.
#pragma once

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

// Of exactly these bytes, and no others: a digest. Where an answer is made on a thread it is marked
// there.
void mark(Response& response);

// Passes an answer to `request`, which is a GET or HEAD, on: marked, with "Cache-Control: no-cache"
// unless it says otherwise, or as 304. Answers longer than 256 KiB that carry no mark stay without,
// since they would be digested on the loop. What nobody is to keep ("no-store") goes on as it is.
Respond revalidated(const Request& request, const Respond& respond);

}  // namespace trainward::api
