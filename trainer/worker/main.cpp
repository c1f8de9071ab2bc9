// trainward-worker: trains a model as its configuration says (docs/worker-protocol.md), and turns
// text into files of tokens for it (docs/data.md).

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "trainer/cpu/runtime/wait_policy.hpp"
#include "trainer/worker/commands/chat.hpp"
#include "trainer/worker/commands/check.hpp"
#include "trainer/worker/commands/compile.hpp"
#include "trainer/worker/commands/data.hpp"
#include "trainer/worker/commands/generate.hpp"
#include "trainer/worker/commands/lower_command.hpp"
#include "trainer/worker/commands/plan_command.hpp"
#include "trainer/worker/commands/tokenize_command.hpp"
#include "trainer/worker/commands/train.hpp"

namespace trainward::trainer {
namespace {

int run(int argc, char** argv) {
  CLI::App app{
      "Trains a model, saves as it goes, and resumes where a checkpoint left off; makes its data, "
      "and shows what the model has learned."};
  app.name("trainward-worker");
  app.require_subcommand(1);
  Chosen chosen;
  add_train(app, argv, chosen);
  add_tokenize(app, chosen);
  add_data(app, chosen);
  add_generate(app, chosen);
  add_chat(app, chosen);
  add_compile(app, chosen);
  add_check(app, chosen);
  add_lower(app, chosen);
  add_tokens(app, chosen);
  add_plan(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  return chosen();
}

}  // namespace
}  // namespace trainward::trainer

int main(int argc, char** argv) {
  // Before anything else: it starts this program again, once, unless the policy is set already.
  (void)trainward::cpu::wait_passively(argv);
  try {
    return trainward::trainer::run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, for one
    std::fprintf(stderr, "trainward-worker: %s\n", trainward::clean(error.what()).c_str());
    return trainward::exit_code::failed;
  }
}
