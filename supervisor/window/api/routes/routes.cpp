#include "supervisor/window/api/routes/routes.hpp"

namespace trainward::api {

void add_routes(Table& table, Feed& feed) {
  add_about(table);
  add_metrics(table);
  add_documents(table);
  add_logs(table);
  add_stream(table, feed);
  add_commands(table);
}

Handler make_routes(Control& control, Reader& reader, Feed& feed) {
  Table table(control, reader);
  add_routes(table, feed);
  return make_router(table.take());
}

}  // namespace trainward::api
