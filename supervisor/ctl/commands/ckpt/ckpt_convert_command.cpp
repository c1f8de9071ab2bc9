// ckpt convert: a copy in another form.
#include <algorithm>
#include <cctype>

#include "checkpoint/tools/convert.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/ckpt_operation.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

struct ConvertRequest {
  std::string from;  // also a .safetensors file or a folder with a Hugging Face model
  std::string to;    // where checkpoints are kept; with weights_only the model's own folder
  std::string type;  // "f32", "bf16", "f16"; empty: as it is
  std::uint64_t shard_bytes = 0;
  bool weights_only = false;
};

// A folder of checkpoints stands for its newest, a program for its folder; any other path is a
// model as others keep it.
Answer<fs::path> source_of(const Context& context, const std::string& from) {
  std::error_code ignored;
  if (fs::is_regular_file(from, ignored)) return fs::path(from);
  auto folder = folder_of(context, from);
  if (!folder || is_checkpoint(*folder)) return folder;
  const auto found = checkpoint::list(*folder);
  if (found && !found->empty()) return found->front().path;
  return folder;
}

int convert_checkpoint(const Context& context, const ConvertRequest& request) {
  const auto from = source_of(context, request.from);
  if (!from) return finish(context, from.error());
  Operation operation(context, "converting " + from->filename().string());
  checkpoint::ConvertOptions options;
  if (!request.type.empty()) options.model_type = checkpoint::dtype_from(upper_case(request.type));
  options.save.shard_bytes = request.shard_bytes;
  options.save.io = operation.io();
  fs::path written = request.to;
  Status done;
  if (request.weights_only) {
    done = checkpoint::convert_to_plain_model(*from, request.to, options);
  } else {
    auto folder = checkpoint::convert(*from, request.to, options);
    done = folder ? Status() : propagate(folder);
    if (folder) written = std::move(*folder);
  }
  if (!done) return operation.fail(done.error(), "nothing was written");
  operation.clear();
  if (context.settings.json) {
    context.print_json({{"from", from->string()}, {"path", written.string()}});
  } else {
    context.terminal.out << clean(written.string()) << ": written and read back\n";
  }
  return exit_status::ok;
}

}  // namespace

void add_ckpt_convert(Cli& cli) {
  auto& request = cli.keep<ConvertRequest>();
  const Verb verb = cli.verb("ckpt convert", "copy as a checkpoint, or as plain weights");
  verb.option("FROM", request.from,
              "a checkpoint, a .safetensors file or a folder with a Hugging Face model")
      .required();
  verb.option("DIR", request.to, "the folder for checkpoints; with --weights the model's")
      .required();
  verb.option("--type", request.type, "element type of the model: f32, bf16 or f16")
      .one_of_any_case({"f32", "bf16", "f16"});
  verb.option("--shard-size", request.shard_bytes, "largest size of a file, such as 4GB or 512MiB")
      .size();
  verb.flag("--weights", request.weights_only,
            "only the model's files, without optimizer and manifest");
  cli.on(verb, request, convert_checkpoint);
}

}  // namespace trainward::ctl
