// ckpt verify, ckpt digest, ckpt diff: every byte is read, nothing is changed.
#include "checkpoint/tools/diff.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/json_of_checkpoints.hpp"
#include "supervisor/ctl/operation.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

constexpr const char* unchanged = "nothing was changed";

std::string label(const char* doing, const fs::path& folder, std::size_t i, std::size_t count) {
  const std::string name = folder.filename().string();
  return count == 1 ? fmt::format("{} {}", doing, name)
                    : fmt::format("{} {} ({} of {})", doing, name, i + 1, count);
}

}  // namespace

int verify_checkpoints(const Context& context, const std::string& place) {
  const auto paths = checkpoints_of(context, place);
  if (!paths) return finish(context, paths.error());
  Operation operation(context, "verifying");
  json::array document;
  bool all_good = true;
  for (std::size_t i = 0; i < paths->size(); ++i) {
    const fs::path& path = (*paths)[i];
    operation.next(label("verifying", path, i, paths->size()));
    const auto verified = checkpoint::verify(path, operation.io());
    if (operation.interrupted()) return operation.fail(verified.error(), unchanged);
    all_good = all_good && verified;
    const std::string message = verified ? "" : verified.error().message();
    document.push_back({{"path", path.string()},
                        {"ok", verified.has_value()},
                        {"step", verified ? verified->step : -1},
                        {"error", message}});
    if (context.settings.json) continue;
    operation.clear();
    context.terminal.out << clean(path.string()) << ": "
                         << (verified ? fmt::format("ok, step {}", verified->step)
                                      : "DAMAGED: " + clean(message))
                         << std::endl;  // each may take a while
  }
  if (context.settings.json) context.print_json(document);
  return all_good ? exit_status::ok : exit_status::failed;
}

int digest_checkpoint(const Context& context, const std::string& place) {
  const auto path = one_checkpoint_of(context, place);
  if (!path) return finish(context, path.error());
  Operation operation(context, label("reading", *path, 0, 1));
  const auto digest = checkpoint::digest(*path, operation.io());
  if (!digest) return operation.fail(digest.error(), unchanged);
  operation.clear();
  if (context.settings.json) {
    context.print_json({{"path", path->string()}, {"digest", *digest}});
  } else {
    context.terminal.out << *digest << '\n';
  }
  return exit_status::ok;
}

int diff_checkpoints(const Context& context, const std::string& first, const std::string& second) {
  const auto a = one_checkpoint_of(context, first);
  if (!a) return finish(context, a.error());
  const auto b = one_checkpoint_of(context, second);
  if (!b) return finish(context, b.error());
  Operation operation(context, "comparing");
  const auto found = checkpoint::diff(*a, *b, operation.io());
  if (!found) return operation.fail(found.error(), unchanged);
  operation.clear();
  const json::object document = json_of(*found, *a, *b);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_diff(document,
                                        {context.terminal.colour, context.terminal.width});
  }
  return found->empty() ? exit_status::ok : exit_status::failed;
}

}  // namespace trainward::ctl
