// ckpt import: a checkpoint of a file that torch.save wrote.
#include "checkpoint/pytorch/import.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

namespace pytorch = checkpoint::pytorch;

struct ImportRequest {
  std::string file;  // of torch.save
  std::string to;    // where checkpoints are kept
  std::optional<std::int64_t> step;
  std::string run;
  std::uint64_t shard_bytes = 0;
};

json::object json_of_import(const pytorch::Imported& imported, const std::string& file) {
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

std::string text_of_import(const pytorch::Imported& imported) {
  std::string text = fmt::format(
      "{}: step {}, {} of the model, {} of the optimizer, {}\n", clean(imported.folder.string()),
      imported.step, count(static_cast<std::int64_t>(imported.model_tensors), "tensor"),
      count(static_cast<std::int64_t>(imported.optimizer_tensors), "tensor"),
      human_bytes(imported.bytes));
  for (const std::string& note : imported.notes) text += "  " + clean(note) + "\n";
  return text;
}

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
    context.print_json(json_of_import(*imported, request.file));
  } else {
    context.terminal.out << text_of_import(*imported);
  }
  return exit_status::ok;
}

}  // namespace

void add_ckpt_import(Cli& cli) {
  auto& request = cli.keep<ImportRequest>();
  const Verb verb = cli.verb("ckpt import", "make a checkpoint of a file that torch.save wrote");
  verb.option("FILE", request.file).required();
  verb.option("DIR", request.to, "the folder for checkpoints").required();
  verb.option("--step", request.step, "instead of the one in the file").not_negative();
  verb.option("--run", request.run, "the run's name in the checkpoint");
  verb.option("--shard-size", request.shard_bytes, "largest size of a file, such as 4GB or 512MiB")
      .size();
  cli.on(verb, request, import_checkpoint);
}

}  // namespace trainward::ctl
