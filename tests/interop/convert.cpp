// What the interoperation tests call:
//
//   convert import FILE ROOT                       prints the checkpoint's folder, its peak memory
//   convert export FOLDER FILE [LAYOUT [LIKE]]
//   convert train FOLDER ROOT STEP                 prints the folder of a later checkpoint
//
// `train` keeps what our trainer keeps: its own parameters with their moments and its own state,
// not the SAT head and nothing of the PyTorch file. A step is a token.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "checkpoint/pytorch/export_pytorch.hpp"
#include "checkpoint/pytorch/import.hpp"

namespace {

using namespace trainward;
using namespace trainward::checkpoint::pytorch;

int complain(const Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  return 1;
}

int run_import(const std::vector<std::string>& arguments) {
  auto imported = import_pytorch(arguments[1], arguments[2]);
  if (!imported) return complain(imported.error());
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  for (const std::string& note : imported->notes) fmt::print(stderr, "note: {}\n", note);
  fmt::print("{}\n{} KiB\n", imported->folder.string(), usage.ru_maxrss);
  return 0;
}

int run_export(const std::vector<std::string>& arguments) {
  ExportOptions options;
  if (arguments.size() > 3) options.layout = layout_from(arguments[3]);
  if (arguments.size() > 4) options.like = arguments[4];
  auto done = export_pytorch(arguments[1], arguments[2], options);
  return done ? 0 : complain(done.error());
}

bool is_trained(const checkpoint::TensorView& view) { return !view.info.name.starts_with("sat."); }

int run_train(const std::vector<std::string>& arguments) {
  auto before = checkpoint::load(arguments[1]);
  if (!before) return complain(before.error());
  checkpoint::Contents contents;
  contents.state = before->state();
  contents.state.step = std::stoll(arguments[3]);
  contents.state.tokens += contents.state.step - before->state().step;
  contents.state.extra.erase("pytorch");
  contents.state.extra["optimizer_steps"] = contents.state.step;
  std::copy_if(before->model().begin(), before->model().end(), std::back_inserter(contents.model),
               is_trained);
  std::copy_if(before->optimizer().begin(), before->optimizer().end(),
               std::back_inserter(contents.optimizer), is_trained);
  auto folder = checkpoint::save(arguments[2], contents);
  if (!folder) return complain(folder.error());
  fmt::print("{}\n", folder->string());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "import") return run_import(arguments);
  if (arguments.size() >= 3 && arguments[0] == "export") return run_export(arguments);
  if (arguments.size() == 4 && arguments[0] == "train") return run_train(arguments);
  fmt::print(stderr,
             "usage: convert import FILE ROOT | export FOLDER FILE [LAYOUT [LIKE]] | train "
             "FOLDER ROOT STEP\n");
  return 2;
}
