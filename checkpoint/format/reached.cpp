#include "checkpoint/format/reached.hpp"

#include "checkpoint/format/strict_json.hpp"

namespace trainward::checkpoint {

Result<Reached> read_reached(const json::object& object) {
  auto step = get_int(object, "step");
  if (!step) return propagate(step);
  auto tokens = get_int(object, "tokens");
  if (!tokens) return propagate(tokens);
  auto loss = number_from_json(object, "loss");
  if (!loss) return propagate(loss);
  if (*step < 0) return fail(ErrorKind::corrupt, fmt::format("key 'step' is {}", *step));
  return Reached{*step, *tokens, *loss};
}

}  // namespace trainward::checkpoint
