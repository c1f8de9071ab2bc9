// Bytes of logs: of a program's attempts, and the daemon's own.
#include <algorithm>

#include "supervisor/window/api/routes/routes.hpp"

namespace trainward::api {
namespace {

constexpr std::int64_t most_log_bytes = 1024 * 1024;

Response bytes_response(LogSlice slice) {
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.headers["X-Log-Offset"] = std::to_string(slice.offset);
  response.headers["X-Log-Size"] = std::to_string(slice.size);
  response.headers["X-Log-Attempt"] = std::to_string(slice.attempt);
  response.body = std::move(slice.bytes);
  return response;
}

std::int64_t limit_of(const Asked& asked) {
  return std::min(asked.number("limit").value_or(most_log_bytes), most_log_bytes);
}

}  // namespace

void add_logs(Table& table) {
  Control& control = table.control();
  table.get("/v1/programs/*/log",
            {{.name = "stream", .words = {"stdout", "stderr"}},
             {.name = "attempt", .least = 1},
             {.name = "offset"},
             {.name = "limit", .least = 0}},
            [&control](const Asked& asked, const Respond& respond) {
              const LogRequest request{asked.name(), asked.word("stream", "stdout"),
                                       asked.number("attempt"), asked.number("offset").value_or(0),
                                       limit_of(asked)};
              control.log(request, {[respond](Result<LogSlice> slice) {
                                      respond(slice ? bytes_response(std::move(*slice))
                                                    : failed(slice.error(), 404));
                                    },
                                    [respond] { return respond.wanted(); }});
            });
  table.get("/v1/log", {{.name = "offset"}, {.name = "limit", .least = 0}},
            [&control](const Asked& asked, const Respond& respond) {
              respond(bytes_response(
                  control.own_log(asked.number("offset").value_or(0), limit_of(asked))));
            });
}

}  // namespace trainward::api
