// trainward-courier: brings messages, figures and checkpoints to servers of others. trainwardd
// starts it.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "common/base/version.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/courier/jobs/channels/one_shot.hpp"
#include "supervisor/courier/jobs/jobs.hpp"
#include "supervisor/courier/jobs/uploads/upload_rows.hpp"
#include "supervisor/courier/quiet.hpp"
#include "supervisor/courier/service.hpp"
#include "supervisor/courier/upload_commands.hpp"

namespace {

using namespace trainward;

int explain(std::FILE* where, int code) {
  std::fputs(
      "trainward-courier is started by trainwardd, which tells it on its standard input what to\n"
      "bring where. To see what it does: trainwardctl status; docs/messenger.md says more.\n",
      where);
  return code;
}

int run(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "-v" || word == "--version") {
    std::printf("trainward-courier %s\n", std::string(version_text).c_str());
    return exit_code::done;
  }
  if (word == "-h" || word == "--help") return explain(stdout, exit_code::done);
  if (argc == 2 && word == courier::try_channels_word) {
    courier::be_quiet();
    return courier::try_channels();
  }
  if (word == "restore" && argc == 2) {
    courier::be_quiet();
    return courier::restore_command();
  }
  if (word == "ask") return courier::ask_command({argv + 2, argv + argc});
  if (argc > 1 || ::isatty(STDIN_FILENO) != 0) return explain(stderr, exit_code::usage);
  courier::be_quiet();
  return courier::serve({courier::jobs_of, courier::all_tables(), courier::forget_what_is_gone,
                         courier::measure_uploads});
}

}  // namespace

int main(int argc, char** argv) {
  int code = exit_code::failed;
  try {
    code = run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, for one
    std::fprintf(stderr, "E %s\n", error.what());
  }
  std::fflush(stdout);
  // Not by way of destructors: a job that never comes back may be using what they would take.
  std::_Exit(code);
}
