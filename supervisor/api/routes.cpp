#include "supervisor/api/routes.hpp"

namespace trainward::api {

void add_routes(Table& table) {
  table.ask("GET", "/v1/version",
            [](Control& daemon) { return Result<json::value>(daemon.version()); });
  add_documents(table);
  add_logs(table);
  add_commands(table);
}

Handler make_routes(Control& control, Reader& reader) {
  Table table(control, reader);
  add_routes(table);
  return make_router(table.take());
}

}  // namespace trainward::api
