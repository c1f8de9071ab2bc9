// ckpt convert: a copy in another form.
#include "checkpoint/tools/convert.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/operation.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

int convert_checkpoint(const Context& context, const ConvertRequest& request) {
  const auto from = source_of(context, request.from);
  if (!from) return finish(context, from.error());
  Operation operation(context, "converting " + from->filename().string());
  checkpoint::ConvertOptions options;
  options.model_type = request.type.empty() ? std::nullopt : checkpoint::dtype_from(request.type);
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

}  // namespace trainward::ctl
