#include "trainer/loop/reporting/evaluations.hpp"

#include <algorithm>

namespace trainward::trainer {
namespace {

// -1 is what to_json() writes for none.
Result<std::int64_t> newest_step(const json::object& object, std::string_view key,
                                 std::int64_t otherwise) {
  if (!object.contains(key)) return otherwise;
  auto step = get_int(object, key);
  if (step && *step < -1) return fail(ErrorKind::corrupt, "is not a step", std::string(key));
  return step;
}

}  // namespace

bool add(Evaluations& all, const Evaluated& next, std::int64_t keep) {
  const auto place =
      std::upper_bound(all.best.begin(), all.best.end(), next,
                       [](const Evaluated& a, const Evaluated& b) { return a.loss < b.loss; });
  const auto at = place - all.best.begin();
  const std::int64_t most = std::max<std::int64_t>(keep, 1);
  all.since_best = at == 0 ? 0 : all.since_best + 1;
  if (at >= most) return false;
  all.best.insert(place, next);
  if (static_cast<std::int64_t>(all.best.size()) > most) all.best.pop_back();
  return true;
}

json::object to_json(const Evaluations& all) {
  json::array best;
  for (const Evaluated& one : all.best) {
    best.push_back(json::object{{"step", one.step}, {"loss", one.loss}});
  }
  return {{"best", std::move(best)},
          {"since_best", all.since_best},
          {"evaluated_step", all.evaluated_step},
          {"sampled_step", all.sampled_step}};
}

// Before its first step a run is always evaluated, if at all: no checkpoint is written there.
Evaluations unknown_evaluations(std::int64_t step) {
  const std::int64_t done = step > 0 ? step : -1;
  return {.best = {}, .since_best = 0, .evaluated_step = done, .sampled_step = done};
}

Result<Evaluations> parse_evaluations(const json::object& object, std::int64_t step) {
  Evaluations all = unknown_evaluations(step);
  auto evaluated = newest_step(object, "evaluated_step", all.evaluated_step);
  if (!evaluated) return propagate(evaluated);
  all.evaluated_step = *evaluated;
  auto sampled = newest_step(object, "sampled_step", all.sampled_step);
  if (!sampled) return propagate(sampled);
  all.sampled_step = *sampled;
  auto since = get_int(object, "since_best");
  if (!since) return propagate(since);
  all.since_best = *since;
  auto best = get_array(object, "best");
  if (!best) return propagate(best);
  for (const json::value& item : **best) {
    if (!item.is_object()) return fail(ErrorKind::corrupt, "is not an object", "best");
    auto at = get_int(item.get_object(), "step");
    if (!at) return propagate(at);
    auto loss = get_number(item.get_object(), "loss");
    if (!loss) return propagate(loss);
    all.best.push_back({*at, *loss});
  }
  if (all.best.empty() && all.since_best > 0) {
    return fail(ErrorKind::corrupt, "is empty, and evaluations since then are counted", "best");
  }
  return all;
}

}  // namespace trainward::trainer
