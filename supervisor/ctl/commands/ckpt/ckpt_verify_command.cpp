// ckpt verify: every byte is read and compared with its checksum; nothing is changed.
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

std::string verifying(const fs::path& folder, std::size_t i, std::size_t count) {
  const std::string name = folder.filename().string();
  return count == 1 ? "verifying " + name
                    : fmt::format("verifying {} ({} of {})", name, i + 1, count);
}

int verify_checkpoints(const Context& context, const std::string& place) {
  const auto paths = checkpoints_of(context, place);
  if (!paths) return finish(context, paths.error());
  Operation operation(context, "verifying");
  json::array document;
  bool all_good = true;
  for (std::size_t i = 0; i < paths->size(); ++i) {
    const fs::path& path = (*paths)[i];
    operation.next(verifying(path, i, paths->size()));
    const auto verified = checkpoint::verify(path, operation.io());
    if (operation.interrupted()) return operation.fail(verified.error(), "nothing was changed");
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

}  // namespace

void add_ckpt_verify(Cli& cli) {
  auto& place = cli.keep<std::string>();
  const Verb verb = cli.verb("ckpt verify", "read every byte and compare checksums");
  verb.option("DIR", place, place_help).required();
  cli.on(verb, place, verify_checkpoints);
}

}  // namespace trainward::ctl
