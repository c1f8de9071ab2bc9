// ckpt repair: a folder of checkpoints put in order.
#include "checkpoint/tools/repair.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/json_of_checkpoints.hpp"
#include "supervisor/ctl/operation.hpp"

namespace trainward::ctl {
namespace {

// In order: nothing (more) to do, and something to resume from if there ever was.
bool in_order(const checkpoint::Repair& repair, bool dry_run) {
  const bool had_any = !repair.good.empty() || !repair.steps.empty();
  if (!repair.complete() || (dry_run && !repair.steps.empty())) return false;
  return repair.left_alone.empty() && (!had_any || !repair.good.empty());
}

}  // namespace

int repair_checkpoints(const Context& context, const std::string& place, bool dry_run) {
  const auto root = root_of(context, place);
  if (!root) return finish(context, root.error());
  Operation operation(context, "verifying");
  const auto repair = checkpoint::repair(*root, dry_run, operation.io());
  if (!repair) return operation.fail(repair.error(), "no checkpoint was changed");
  operation.clear();
  const json::object document = json_of(*repair, *root, dry_run);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_repair(document,
                                          {context.terminal.colour, context.terminal.width});
  }
  return in_order(*repair, dry_run) ? exit_status::ok : exit_status::failed;
}

}  // namespace trainward::ctl
