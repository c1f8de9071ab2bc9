// ckpt merge: an adapter and its base model as one model.
#include "checkpoint/huggingface/export.hpp"
#include "checkpoint/huggingface/model/folder_path.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/folder_options.hpp"
#include "supervisor/ctl/card_facts.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;
namespace huggingface = checkpoint::huggingface;

struct MergeRequest {
  std::string from;
  bool any_base = false;
  FolderRequest hf;
};

// A folder of PEFT's is taken as it is; any other word means a checkpoint as everywhere.
Answer<fs::path> source_of_merge(const Context& context, const std::string& from) {
  const fs::path folder = huggingface::folder_path(from);
  if (huggingface::is_there(folder / "adapter_config.json")) return folder;
  return one_checkpoint_of(context, folder.string());
}

int merge_adapter(const Context& context, const MergeRequest& request) {
  const auto from = source_of_merge(context, request.from);
  if (!from) return finish(context, from.error());
  Operation operation(context, "merging " + from->filename().string());
  auto options = options_of(request.hf);
  options.any_base = request.any_base;
  options.card = card_facts(context, *from);
  options.io = operation.io();
  const auto done = huggingface::merge(*from, folder_of(request.hf), options);
  if (!done) return operation.fail(done.error(), "nothing was written");
  operation.clear();
  return print_folder(context, *from, request.hf, *done);
}

}  // namespace

void add_ckpt_merge(Cli& cli) {
  auto& request = cli.keep<MergeRequest>();
  const Verb verb = cli.verb("ckpt merge", "write an adapter and its base model as one model");
  verb.option("FROM", request.from, "a checkpoint of adapters, a program, or a folder of PEFT's")
      .required();
  add_folder_options(verb, request.hf);
  verb.flag("--any-base", request.any_base, "also onto a base with other weights");
  cli.on(verb, request, merge_adapter, [&request]() -> std::string {
    return request.hf.folder.empty() ? "name the new folder with --hf FOLDER" : "";
  });
}

}  // namespace trainward::ctl
