#include "supervisor/window/api/routes/feed_look.hpp"

#include <string>
#include <utility>

#include "common/os/clock.hpp"

namespace trainward::api {

Result<std::int64_t> newest_event(const store::Store& store) {
  auto rows = store.events_json("", -1, 1);
  if (!rows) return propagate(rows);
  return rows->empty() ? 0 : int_or(rows->front().as_object(), "id", 0);
}

Result<FeedLook> look_at(const store::Store& store, bool programs) {
  FeedLook look;
  auto newest = newest_event(store);
  if (!newest) return propagate(newest);
  look.newest = *newest;
  if (!programs) return look;
  auto rows = store.status_json(now());
  if (!rows) return propagate(rows);
  for (const json::value& row : *rows) {
    const std::string name = string_or(row.as_object(), "name", "");
    auto step = store.newest_step_json(name);
    if (!step) return propagate(step);
    if (step->empty()) continue;
    json::object full{{"now_ms", now().wall.ms}, {"program", name}};
    for (auto& [key, value] : *step) full[key] = std::move(value);
    look.steps.push_back(std::move(full));
  }
  look.programs = std::move(*rows);
  return look;
}

}  // namespace trainward::api
