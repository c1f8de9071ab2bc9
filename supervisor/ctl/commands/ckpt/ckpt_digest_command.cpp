// ckpt digest: equal digests mean equal bits.
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"

namespace trainward::ctl {
namespace {

int digest_checkpoint(const Context& context, const std::string& place) {
  const auto path = one_checkpoint_of(context, place);
  if (!path) return finish(context, path.error());
  Operation operation(context, "reading " + path->filename().string());
  const auto digest = checkpoint::digest(*path, operation.io());
  if (!digest) return operation.fail(digest.error(), "nothing was changed");
  operation.clear();
  if (context.settings.json) {
    context.print_json({{"path", path->string()}, {"digest", *digest}});
  } else {
    context.terminal.out << *digest << '\n';
  }
  return exit_status::ok;
}

}  // namespace

void add_ckpt_digest(Cli& cli) {
  auto& place = cli.keep<std::string>();
  const Verb verb =
      cli.verb("ckpt digest", "SHA-256 over the tensors of a checkpoint, or of the newest");
  verb.option("DIR", place, place_help).required();
  cli.on(verb, place, digest_checkpoint);
}

}  // namespace trainward::ctl
