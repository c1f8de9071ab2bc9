// ckpt repair: a folder of checkpoints put in order.
#include "checkpoint/tools/repair.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {
namespace {

struct RepairRequest {
  std::string place;
  bool dry_run = false;
};

// In order: nothing (more) to do, and something to resume from if there ever was.
bool in_order(const checkpoint::Repair& repair, bool dry_run) {
  const bool had_any = !repair.good.empty() || !repair.steps.empty();
  if (!repair.complete() || (dry_run && !repair.steps.empty())) return false;
  return repair.left_alone.empty() && (!had_any || !repair.good.empty());
}

json::object json_of_repair(const checkpoint::Repair& repair, const std::filesystem::path& root,
                            bool dry_run) {
  json::array steps;
  for (const checkpoint::Repair::Step& step : repair.steps) {
    steps.push_back({{"action", std::string(to_string(step.action))},
                     {"path", step.path.string()},
                     {"to", step.to.string()},
                     {"reason", step.reason},
                     {"problem", step.problem}});
  }
  const auto rows_of = [](const std::vector<checkpoint::Summary>& summaries) {
    json::array rows;
    for (const auto& one : summaries) {
      rows.push_back({{"path", one.path.string()}, {"step", one.step}});
    }
    return rows;
  };
  json::array left_alone;
  for (const checkpoint::Rejected& one : repair.left_alone) {
    left_alone.push_back({{"path", one.path.string()}, {"step", one.step}, {"reason", one.reason}});
  }
  return {{"path", root.string()},          {"dry_run", dry_run},
          {"steps", std::move(steps)},      {"good", rows_of(repair.good)},
          {"spare", rows_of(repair.spare)}, {"left_alone", std::move(left_alone)}};
}

std::string words_of_action(const std::string& action, bool dry_run) {
  const std::string would = dry_run ? "would be " : "";
  if (action == "set_aside") return would + "set aside";
  if (action == "brought_back") return would + "brought back";
  if (action == "removed") return would + "removed";
  return dry_run ? "would be changed" : "changed";
}

std::string format_repair(const json::object& repair, const Style& style) {
  const bool dry_run = bool_or(repair, "dry_run", false);
  std::string text;
  std::int64_t good = 0;
  std::string newest;
  for_each_row(repair, "steps", [&](const json::object& step) {
    const std::string problem = string_or(step, "problem", "");
    const std::string to = string_or(step, "to", "");
    text += clean(string_or(step, "path", "-")) + ": " +
            (problem.empty() ? words_of_action(string_or(step, "action", ""), dry_run)
                             : coloured("FAILED: " + clean(problem), Colour::red, style)) +
            (to.empty() ? "" : ", now " + clean(to)) + " (" + clean(string_or(step, "reason", "")) +
            ")\n";
  });
  for_each_row(repair, "left_alone", [&](const json::object& row) {
    text += clean(string_or(row, "path", "-")) + ": left alone (" +
            clean(string_or(row, "reason", "")) + ")\n";
  });
  for_each_row(repair, "spare", [&](const json::object& row) {
    text += clean(string_or(row, "path", "-")) +
            ": is whole, but there is a good one of its step; remove it when you do not need it\n";
  });
  for_each_row(repair, "good", [&](const json::object& row) {
    if (good++ == 0) newest = clean(string_or(row, "path", "-"));
  });
  if (good == 0) return text + "No good checkpoint\n";
  return text + fmt::format("{} good, the newest is {}\n", count(good, "checkpoint"), newest);
}

int repair_checkpoints(const Context& context, const RepairRequest& request) {
  const auto root = root_of(context, request.place);
  if (!root) return finish(context, root.error());
  const ActingAs acting(owner_of(*root));
  Operation operation(context, "verifying");
  const auto repair = checkpoint::repair(*root, request.dry_run, operation.io());
  if (!repair) return operation.fail(repair.error(), "no checkpoint was changed");
  operation.clear();
  const json::object document = json_of_repair(*repair, *root, request.dry_run);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_repair(document, context.style());
  }
  return in_order(*repair, request.dry_run) ? exit_status::ok : exit_status::failed;
}

}  // namespace

void add_ckpt_repair(Cli& cli) {
  auto& request = cli.keep<RepairRequest>();
  const Verb verb =
      cli.verb("ckpt repair", "verify all, set damaged ones aside, bring good ones back");
  verb.option("DIR", request.place, "a folder of checkpoints, or a program").required();
  verb.flag("--dry-run", request.dry_run, "only tell");
  cli.on(verb, request, repair_checkpoints);
}

}  // namespace trainward::ctl
