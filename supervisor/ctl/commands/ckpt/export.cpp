// ckpt export: a file that torch.load reads.
#include "checkpoint/pytorch/export.hpp"

#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/operation.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

namespace pytorch = checkpoint::pytorch;

struct ExportRequest {
  std::string place;
  std::string file;
  std::string like;    // the checkpoint that was imported, or empty
  std::string layout;  // "zip", "legacy"; empty: as the imported file
};

int export_checkpoint(const Context& context, const ExportRequest& request) {
  const auto folder = one_checkpoint_of(context, request.place);
  if (!folder) return finish(context, folder.error());
  pytorch::ExportOptions options;
  if (!request.like.empty()) {
    auto like = one_checkpoint_of(context, request.like);
    if (!like) return finish(context, like.error());
    options.like = std::move(*like);
  }
  if (!request.layout.empty()) {
    options.layout = pytorch::layout_from(request.layout);
  }
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(request.file, ignored))) {
    return finish(context,
                  {exit_status::failed, Error{ErrorKind::usage, "exists already", request.file,
                                              "nothing is ever replaced: choose another name"}});
  }
  Operation operation(context, "exporting " + folder->filename().string());
  options.io = operation.io();
  const Status done = pytorch::export_pytorch(*folder, request.file, options);
  if (!done) return operation.fail(done.error(), "nothing was written");
  operation.clear();
  if (context.settings.json) {
    context.print_json({{"from", folder->string()}, {"path", request.file}});
  } else {
    context.terminal.out << clean(request.file) << ": written\n";
  }
  return exit_status::ok;
}

}  // namespace

void add_ckpt_export(Cli& cli) {
  auto& request = cli.keep<ExportRequest>();
  const Verb verb = cli.verb("ckpt export", "write a file that torch.load reads");
  verb.option("DIR", request.place, place_help).required();
  verb.option("FILE", request.file).required();
  verb.option("--like", request.like, "the checkpoint that was imported");
  verb.option("--layout", request.layout, "zip or legacy").one_of({"zip", "legacy"});
  cli.on(verb, request, export_checkpoint);
}

}  // namespace trainward::ctl
