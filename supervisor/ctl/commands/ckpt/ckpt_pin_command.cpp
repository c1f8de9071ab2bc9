// ckpt pin, unpin: what stays whatever prune removes.
#include "checkpoint/retention.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

struct PinRequest {
  std::string place;
  std::string reason;
};

Answer<fs::path> exactly_one(const Context& context, const std::string& place) {
  auto folder = folder_of(context, place);
  if (folder && !is_checkpoint(*folder)) {
    return tl::unexpected<Failure>(
        {exit_status::failed, Error{ErrorKind::usage, "is no checkpoint", folder->string(),
                                    "name one, such as " + (*folder / "step-00001234").string()}});
  }
  return folder;
}

int pin_checkpoint(const Context& context, const PinRequest& request) {
  const auto folder = exactly_one(context, request.place);
  if (!folder) return finish(context, folder.error());
  const ActingAs acting(owner_of(*folder));
  if (const Status done = checkpoint::pin(*folder, clean(request.reason)); !done) {
    return finish(context, {exit_status::failed, done.error()});
  }
  if (context.settings.json) {
    context.print_json(
        {{"path", folder->string()}, {"pinned", true}, {"reason", clean(request.reason)}});
  } else {
    context.terminal.out << clean(folder->string()) << ": pinned, it stays until it is unpinned\n";
  }
  return exit_status::ok;
}

int unpin_checkpoint(const Context& context, const PinRequest& request) {
  const auto folder = exactly_one(context, request.place);
  if (!folder) return finish(context, folder.error());
  const ActingAs acting(owner_of(*folder));
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

}  // namespace

void add_ckpt_pin(Cli& cli) {
  auto& request = cli.keep<PinRequest>();
  const Verb pin = cli.verb("ckpt pin", "keep a checkpoint whatever prune removes");
  pin.option("DIR", request.place, "a checkpoint").required();
  pin.option("--reason", request.reason, "why; it is kept with the checkpoint");
  cli.on(pin, request, pin_checkpoint);
  const Verb unpin = cli.verb("ckpt unpin", "let prune remove it again");
  unpin.option("DIR", request.place, "a checkpoint").required();
  cli.on(unpin, request, unpin_checkpoint);
}

}  // namespace trainward::ctl
