// ckpt import, ckpt export: from and to the files of torch.save.
#include "checkpoint/pytorch/export.hpp"
#include "checkpoint/pytorch/import.hpp"
#include "common/text.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/operation.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

namespace pytorch = checkpoint::pytorch;

json::object json_of(const pytorch::Imported& imported, const std::string& file) {
  json::array notes;
  for (const std::string& note : imported.notes) notes.emplace_back(note);
  const std::string_view layout = to_string(imported.layout);
  return {{"file", file},
          {"path", imported.folder.string()},
          {"layout", json::string(layout.data(), layout.size())},
          {"step", imported.step},
          {"tokens", imported.tokens},
          {"model_tensors", imported.model_tensors},
          {"optimizer_tensors", imported.optimizer_tensors},
          {"bytes", imported.bytes},
          {"notes", std::move(notes)}};
}

std::string text_of(const pytorch::Imported& imported) {
  std::string text = fmt::format(
      "{}: step {}, {} of the model, {} of the optimizer, {}\n", clean(imported.folder.string()),
      imported.step, count(static_cast<std::int64_t>(imported.model_tensors), "tensor"),
      count(static_cast<std::int64_t>(imported.optimizer_tensors), "tensor"),
      human_bytes(imported.bytes));
  for (const std::string& note : imported.notes) text += "  " + clean(note) + "\n";
  return text;
}

}  // namespace

int import_checkpoint(const Context& context, const ImportRequest& request) {
  Operation operation(context, "importing");
  pytorch::ImportOptions options;
  options.step = request.step;
  options.run = request.run;
  options.save.shard_bytes = request.shard_bytes;
  options.save.io = operation.io();
  const auto imported = pytorch::import_pytorch(request.file, request.to, options);
  if (!imported) return operation.fail(imported.error(), "nothing was written");
  operation.clear();
  if (context.settings.json) {
    context.print_json(json_of(*imported, request.file));
  } else {
    context.terminal.out << text_of(*imported);
  }
  return exit_status::ok;
}

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

}  // namespace trainward::ctl
