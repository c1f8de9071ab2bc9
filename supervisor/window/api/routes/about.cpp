// What the daemon says of itself: who it is, whether it is well, and what can be asked of it.
#include "supervisor/window/api/routes/openapi.hpp"
#include "supervisor/window/api/routes/routes.hpp"

namespace trainward::api {
namespace {

// For proxies and probes: that the loop answers, and that what happens is recorded. Anybody may
// ask, so only who may read is told more than that.
Response health(const Control& control, const Requester& by) {
  const std::string refusal = control.refusal();
  Response response =
      refusal.empty()
          ? json_response({{"status", "ok"}})
          : error_response(
                503, {ErrorKind::transient,
                      by.role == Role::nobody ? "what happens cannot be recorded" : refusal, "",
                      "`trainwardctl status` says more on the machine itself"});
  response.headers["Cache-Control"] = "no-store";
  return response;
}

}  // namespace

void add_about(Table& table) {
  Control& control = table.control();
  table.get(
      "/healthz", {},
      [&control](const Asked& asked, const Respond& respond) {
        respond(health(control, asked.by()));
      },
      Role::nobody);
  table.ask("GET", "/v1/version",
            [](Control& daemon) { return Result<json::value>(daemon.version()); });
  table.get("/v1/openapi.json", {}, [](const Asked&, const Respond& respond) {
    Response response;
    response.body = openapi_json();
    respond(std::move(response));
  });
}

}  // namespace trainward::api
