// What the interoperation test of Hugging Face's folders calls:
//
//   huggingface-roundtrip untrained BASE SCRATCH OUT SHARD_BYTES   a run of no step, exported
//   huggingface-roundtrip adapted BASE SCRATCH PEFT MERGED         adapters, exported and merged
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "checkpoint/huggingface/export.hpp"
#include "tests/unit/checkpoint/huggingface/trained.hpp"

namespace {

using namespace trainward;
using namespace trainward::checkpoint::huggingface;

int complain(const Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  return 1;
}

int run_untrained(const std::vector<std::string>& arguments) {
  ExportOptions options;
  options.shard_bytes = std::stoull(arguments[4]);
  const auto folder =
      testing::untrained(arguments[2], arguments[1], testing::record_for(arguments[1]));
  const auto done = export_model(folder, arguments[3], options);
  return done ? 0 : complain(done.error());
}

int run_adapted(const std::vector<std::string>& arguments) {
  ModelRecord record = testing::record_for(arguments[1]);
  record.lora = LoraSettings{4, 6, 0.1, true, {"q_proj", "v_proj", "down_proj"}};
  const auto folder = testing::adapted(arguments[2], {}, record);
  const auto exported = export_model(folder, arguments[3]);
  if (!exported) return complain(exported.error());
  const auto merged = merge(folder, arguments[4]);
  return merged ? 0 : complain(merged.error());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 5 && arguments[0] == "untrained") return run_untrained(arguments);
    if (arguments.size() == 5 && arguments[0] == "adapted") return run_adapted(arguments);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}\n", exception.what());
    return 1;
  }
  fmt::print(stderr,
             "usage: huggingface-roundtrip untrained BASE SCRATCH OUT SHARD_BYTES | adapted BASE "
             "SCRATCH PEFT MERGED\n");
  return 2;
}
