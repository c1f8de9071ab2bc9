// What monitoring asks for, in the form it asks for (docs/metrics.md).
#include <memory>

#include "common/os/clock.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "supervisor/record/metrics/expose.hpp"
#include "supervisor/window/api/routes/routes.hpp"

namespace trainward::api {
namespace {

metrics::Format format_of(const Asked& asked) {
  const std::string named = asked.word("format", "");
  if (named.empty()) return metrics::wanted_format(asked.request().header("accept"));
  return named == "openmetrics" ? metrics::Format::openmetrics : metrics::Format::text;
}

Response exposed(const Result<metrics::Snapshot>& snapshot, metrics::Format format) {
  if (!snapshot) return failed(snapshot.error(), 500);
  Response response;
  response.content_type = metrics::content_type(format);
  response.headers["Cache-Control"] = "no-store";
  response.body = metrics::expose(*snapshot, format);
  return response;
}

}  // namespace

void add_metrics(Table& table) {
  // Of the reader's thread alone.
  const auto collector = std::make_shared<metrics::Collector>();
  table.get("/metrics", {{.name = "format", .words = {"text", "openmetrics"}}},
            [collector, &control = table.control(), &reader = table.reader()](
                const Asked& asked, const Respond& respond) {
              reader.answer(
                  [collector, live = control.live(),
                   format = format_of(asked)](const store::Store& store) {
                    return exposed(collector->snapshot(store, live, now()), format);
                  },
                  respond);
            });
}

}  // namespace trainward::api
