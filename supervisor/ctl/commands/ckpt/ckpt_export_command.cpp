// ckpt export: a file that torch.load reads, or a folder as Hugging Face's tools and PEFT have it.
#include "checkpoint/huggingface/export.hpp"
#include "checkpoint/pytorch/export_pytorch.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/folder_options.hpp"
#include "supervisor/ctl/card_facts.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

namespace huggingface = checkpoint::huggingface;
namespace pytorch = checkpoint::pytorch;

struct ExportRequest {
  std::string place;
  std::string file;
  std::string like;    // the checkpoint that was imported, or empty
  std::string layout;  // "zip", "legacy"; empty: as the imported file
  FolderRequest hf;
};

int export_folder(const Context& context, const ExportRequest& request,
                  const std::filesystem::path& from) {
  Operation operation(context, "exporting " + from.filename().string());
  auto options = options_of(request.hf);
  options.card = card_facts(context, from);
  options.io = operation.io();
  const auto done = huggingface::export_model(from, folder_of(request.hf), options);
  if (!done) return operation.fail(done.error(), "nothing was written");
  operation.clear();
  return print_folder(context, from, request.hf, *done);
}

int export_file(const Context& context, const ExportRequest& request,
                const std::filesystem::path& from) {
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
  Operation operation(context, "exporting " + from.filename().string());
  options.io = operation.io();
  const Status done = pytorch::export_pytorch(from, request.file, options);
  if (!done) return operation.fail(done.error(), "nothing was written");
  operation.clear();
  if (context.settings.json) {
    context.print_json({{"from", from.string()}, {"path", request.file}});
  } else {
    context.terminal.out << clean(request.file) << ": written\n";
  }
  return exit_status::ok;
}

int export_checkpoint(const Context& context, const ExportRequest& request) {
  const auto folder = one_checkpoint_of(context, request.place);
  if (!folder) return finish(context, folder.error());
  return request.file.empty() ? export_folder(context, request, *folder)
                              : export_file(context, request, *folder);
}

}  // namespace

void add_ckpt_export(Cli& cli) {
  auto& request = cli.keep<ExportRequest>();
  const Verb verb =
      cli.verb("ckpt export", "write a file that torch.load reads, or a Hugging Face folder");
  verb.option("DIR", request.place, place_help).required();
  verb.option("FILE", request.file, "a new file that torch.load reads");
  verb.option("--like", request.like, "the checkpoint that was imported").needs("FILE");
  verb.option("--layout", request.layout, "zip or legacy").one_of({"zip", "legacy"}).needs("FILE");
  add_folder_options(verb, request.hf);
  cli.on(verb, request, export_checkpoint, [&request]() -> std::string {
    if (request.file.empty() == request.hf.folder.empty()) {
      return "name either FILE or --hf FOLDER";
    }
    return "";
  });
}

}  // namespace trainward::ctl
