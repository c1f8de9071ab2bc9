// ckpt prune, pin, unpin: which checkpoints stay.
#include "checkpoint/retention.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/operation.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

json::array texts(const std::vector<fs::path>& paths) {
  json::array array;
  for (const fs::path& path : paths) array.emplace_back(path.string());
  return array;
}

Answer<fs::path> exactly_one(const Context& context, const std::string& place) {
  auto folder = folder_of(context, place);
  if (folder && !is_checkpoint(*folder)) {
    return tl::unexpected<Failure>(
        {exit_status::failed, Error{ErrorKind::usage, "is no checkpoint", folder->string(),
                                    "name one, such as " + (*folder / "step-00001234").string()}});
  }
  return folder;
}

}  // namespace

int prune_checkpoints(const Context& context, const PruneRequest& request) {
  const auto root = root_of(context, request.place);
  if (!root) return finish(context, root.error());
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
                        {"removed", texts(pruned->removed)},
                        {"in_use", texts(pruned->in_use)}});
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

int pin_checkpoint(const Context& context, const std::string& place, const std::string& reason) {
  const auto folder = exactly_one(context, place);
  if (!folder) return finish(context, folder.error());
  if (const Status done = checkpoint::pin(*folder, clean(reason)); !done) {
    return finish(context, {exit_status::failed, done.error()});
  }
  if (context.settings.json) {
    context.print_json({{"path", folder->string()}, {"pinned", true}, {"reason", clean(reason)}});
  } else {
    context.terminal.out << clean(folder->string()) << ": pinned, it stays until it is unpinned\n";
  }
  return exit_status::ok;
}

int unpin_checkpoint(const Context& context, const std::string& place) {
  const auto folder = exactly_one(context, place);
  if (!folder) return finish(context, folder.error());
  const bool was_pinned = checkpoint::is_pinned(*folder);
  if (const Status done = checkpoint::unpin(*folder); !done) {
    return finish(context, {exit_status::failed, done.error()});
  }
  if (context.settings.json) {
    context.print_json({{"path", folder->string()}, {"pinned", false}});
  } else {
    context.terminal.out << clean(folder->string())
                         << (was_pinned ? ": no longer pinned\n" : ": was not pinned\n");
  }
  return exit_status::ok;
}

}  // namespace trainward::ctl
