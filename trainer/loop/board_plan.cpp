#include "trainer/loop/board_plan.hpp"

#include <limits>

#include "common/protocol.hpp"
#include "common/text.hpp"
#include "trainer/loop/strict_object.hpp"

namespace trainward::trainer {
namespace {

constexpr std::int64_t any_count = std::numeric_limits<std::int64_t>::max();

Result<BoardScript::Hang> read_hang(const json::object& object) {
  BoardScript::Hang hang;
  StrictObject keys(object, "simulate.hang");
  keys.whole("attempt", hang.attempt, 1, any_count);
  keys.whole("after_steps", hang.after_steps, 0, any_count);
  if (!keys.has("attempt")) keys.complain("attempt", "is missing", "which attempt is to hang");
  if (auto ok = keys.finish(); !ok) return propagate(ok);
  return hang;
}

}  // namespace

Result<BoardScript> read_board_script(const json::object& simulate) {
  BoardScript script;
  StrictObject keys(simulate, "simulate");
  keys.bytes("dram_bytes", script.dram_bytes);
  keys.bytes("base_bytes", script.base_bytes);
  keys.bytes("leak_bytes_per_step", script.leak_bytes_per_step);
  const json::object* hang = keys.object("hang");
  if (auto ok = keys.finish(); !ok) return propagate(ok);
  if (hang != nullptr) {
    auto read = read_hang(*hang);
    if (!read) return propagate(read);
    script.hang = *read;
  }
  return script;
}

Result<BoardPlan> read_board_plan(std::string_view text) {
  BoardPlan plan;
  if (trim(text).empty()) return plan;
  auto parsed = parse_json(text, env::plan);
  if (!parsed) return propagate(parsed);
  if (!parsed->is_object()) return fail(ErrorKind::usage, "is not a JSON object", env::plan);
  const json::value* board = parsed->get_object().if_contains("board");
  if (board == nullptr || board->is_null()) return plan;
  if (!board->is_object()) return fail(ErrorKind::usage, "board is not an object", env::plan);
  plan.serial = string_or(board->get_object(), "serial", "");
  const json::value* simulate = board->get_object().if_contains("simulate");
  if (simulate == nullptr || simulate->is_null()) return plan;
  if (!simulate->is_object()) {
    return fail(ErrorKind::usage, "board.simulate is not an object", env::plan);
  }
  auto script = read_board_script(simulate->get_object());
  if (!script) return propagate(script);
  plan.simulate = *script;
  return plan;
}

}  // namespace trainward::trainer
