// GET /v1/stream
#include "supervisor/window/api/routes/routes.hpp"

namespace trainward::api {
namespace {

// What a browser sends when it comes back is what we gave it; anything else is too old to know.
std::optional<std::int64_t> last_event(const Asked& asked) {
  const std::string sent = asked.request().header("last-event-id");
  if (sent.empty()) return asked.number("after");
  return whole_number(sent).value_or(-1);
}

}  // namespace

void add_stream(Table& table, Feed& feed) {
  table.get("/v1/stream", {{.name = "program", .text = true}, {.name = "after", .least = 0}},
            [&feed](const Asked& asked, const Respond& respond) {
              feed.listen({asked.word("program", ""), last_event(asked),
                           !asked.request().peer.user.has_value()},
                          respond);
            });
}

}  // namespace trainward::api
