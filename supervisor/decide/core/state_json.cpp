#include "supervisor/decide/core/reflect.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::core {

template <>
inline constexpr bool reflect::flat<Attempt> = true;
template <>
inline constexpr bool reflect::flat<Watch> = true;
template <>
inline constexpr bool reflect::flat<History> = true;
template <>
inline constexpr bool reflect::flat<Amends> = true;
template <>
inline constexpr bool reflect::flat<Boards> = true;

json::object to_json(const State& state) { return reflect::write(state).as_object(); }

Result<State> state_from_json(const json::value& value) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "the stored state is not an object");
  const json::object& object = value.get_object();
  auto name = get_string(object, "stage");
  if (!name) return propagate(name);
  if (Stage stage{}; !from_string(*name, stage)) {
    return fail(ErrorKind::corrupt, "unknown stage '" + *name + "'");
  }
  // What the operator wants cannot be guessed.
  if (auto wanted = get_bool(object, "wanted"); !wanted) return propagate(wanted);
  Result<State> state;
  reflect::read(value, *state);
  return state;
}

json::object to_json(const BoardRecord& record) { return reflect::write(record).as_object(); }

BoardRecord board_record_from_json(const json::value& value) {
  BoardRecord record;
  reflect::read(value, record);
  return record;
}

json::object to_json(const Plan& plan) {
  json::object object;
  if (plan.block > 0) object["block"] = plan.block;
  if (plan.batch > 0) object["batch"] = plan.batch;
  object["accumulation"] = plan.accumulation;
  object["recompute"] = plan.recompute;
  if (plan.checkpoint_every > 0) object["checkpoint_every"] = plan.checkpoint_every;
  if (!plan.skip.empty()) object["skip"] = reflect::write(plan.skip);
  return object;
}

}  // namespace trainward::core
