// ckpt prune: removes checkpoints that need not stay.
#include "checkpoint/retention.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

struct PruneRequest {
  std::string place;
  int keep = config::Program().checkpoints_keep;
  std::int64_t keep_every = 0;  // steps; 0: no milestones
  bool dry_run = false;
};

json::array paths_of(const std::vector<fs::path>& paths) {
  json::array array;
  for (const fs::path& path : paths) array.emplace_back(path.string());
  return array;
}

int prune_checkpoints(const Context& context, const PruneRequest& request) {
  const auto root = root_of(context, request.place);
  if (!root) return finish(context, root.error());
  const ActingAs acting(owner_of(*root));
  checkpoint::Retention retention;
  retention.keep = request.keep;
  retention.keep_every = request.keep_every;
  Operation operation(context, "verifying");
  retention.io = operation.io();
  const auto pruned = checkpoint::prune(*root, retention, request.dry_run);
  if (!pruned) return operation.fail(pruned.error(), "nothing was removed");
  operation.clear();
  if (context.settings.json) {
    context.print_json({{"path", root->string()},
                        {"dry_run", request.dry_run},
                        {"removed", paths_of(pruned->removed)},
                        {"in_use", paths_of(pruned->in_use)}});
    return exit_status::ok;
  }
  for (const fs::path& path : pruned->removed) {
    context.terminal.out << clean(path.string())
                         << (request.dry_run ? ": would be removed\n" : ": removed\n");
  }
  for (const fs::path& path : pruned->in_use) {
    context.terminal.out << clean(path.string()) << ": stays, a process has it open\n";
  }
  if (pruned->removed.empty() && pruned->in_use.empty()) {
    context.terminal.out << "Nothing to remove\n";
  }
  return exit_status::ok;
}

}  // namespace

void add_ckpt_prune(Cli& cli) {
  auto& request = cli.keep<PruneRequest>();
  const Verb verb = cli.verb("ckpt prune", "remove checkpoints that need not stay");
  verb.option("DIR", request.place, "a folder of checkpoints, or a program").required();
  verb.option("--keep", request.keep,
              fmt::format("the newest N that verify stay ({}; at least 2)", request.keep))
      .range(2, 1'000'000);
  verb.option("--every", request.keep_every, "steps that are multiples of K stay").positive();
  verb.flag("--dry-run", request.dry_run, "only tell");
  cli.on(verb, request, prune_checkpoints);
}

}  // namespace trainward::ctl
