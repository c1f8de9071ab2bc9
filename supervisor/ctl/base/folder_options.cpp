#include "supervisor/ctl/base/folder_options.hpp"

#include "checkpoint/huggingface/model/folder_path.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {

namespace huggingface = checkpoint::huggingface;

void add_folder_options(const Verb& verb, FolderRequest& request) {
  verb.option("--hf", request.folder, "a new folder for transformers, PEFT and vLLM");
  verb.option("--dtype", request.type, "f32, bf16 or f16; else as in the base model")
      .one_of_any_case({"f32", "bf16", "f16"})
      .needs("--hf");
  verb.option("--max-shard", request.shard_bytes, "largest size of a file, such as 2GB (5GB)")
      .size()
      .needs("--hf");
  verb.option("--base", request.base, "where the base model lies now").needs("--hf");
  verb.option("--tokenizer", request.tokenizer,
              "the folder with the tokenizer's files, when it is not the base's")
      .needs("--hf");
}

std::filesystem::path folder_of(const FolderRequest& request) {
  return huggingface::folder_path(request.folder);
}

huggingface::ExportOptions options_of(const FolderRequest& request) {
  huggingface::ExportOptions options;
  if (!request.type.empty()) options.type = checkpoint::dtype_from(upper_case(request.type));
  if (!request.base.empty()) options.base = huggingface::folder_path(request.base);
  if (!request.tokenizer.empty()) options.tokenizer = huggingface::folder_path(request.tokenizer);
  options.shard_bytes = request.shard_bytes;
  return options;
}

int print_folder(const Context& context, const std::filesystem::path& from,
                 const FolderRequest& request, const huggingface::Exported& done) {
  const std::string path = folder_of(request).string();
  if (context.settings.json) {
    context.print_json({{"from", from.string()},
                        {"path", path},
                        {"adapter", done.adapter},
                        {"tensors", done.tensors},
                        {"bytes", done.bytes},
                        {"notes", json::array(done.notes.begin(), done.notes.end())}});
    return exit_status::ok;
  }
  context.terminal.out << fmt::format("{}: written, {} of {}, {}\n", clean(path),
                                      count(static_cast<std::int64_t>(done.tensors), "tensor"),
                                      done.adapter ? "an adapter" : "a model",
                                      human_bytes(done.bytes));
  for (const std::string& note : done.notes)
    context.terminal.out << "note: " << clean(note) << '\n';
  return exit_status::ok;
}

}  // namespace trainward::ctl
