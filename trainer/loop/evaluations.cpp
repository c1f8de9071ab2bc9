#include "trainer/loop/evaluations.hpp"

#include <algorithm>

namespace trainward::trainer {

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
  return {{"best", std::move(best)}, {"since_best", all.since_best}};
}

Result<Evaluations> parse_evaluations(const json::object& object) {
  Evaluations all;
  auto since = get_int(object, "since_best");
  if (!since) return propagate(since);
  all.since_best = *since;
  auto best = get_array(object, "best");
  if (!best) return propagate(best);
  for (const json::value& item : **best) {
    if (!item.is_object()) return fail(ErrorKind::corrupt, "is not an object", "best");
    auto step = get_int(item.get_object(), "step");
    if (!step) return propagate(step);
    auto loss = get_number(item.get_object(), "loss");
    if (!loss) return propagate(loss);
    all.best.push_back({*step, *loss});
  }
  if (all.best.empty() && all.since_best > 0) {
    return fail(ErrorKind::corrupt, "is empty, and evaluations since then are counted", "best");
  }
  return all;
}

}  // namespace trainward::trainer
