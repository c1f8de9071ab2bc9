// trainward-shim ATTEMPT_FOLDER: keeps one attempt. Started by trainwardd, not by hand.
// trainward-shim --keep-state MILLISECONDS: keeps what a worker has left in memory. Started by the
// former at its end.

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "common/base/number_in.hpp"
#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/process/shim/memory/state_keeper.hpp"
#include "supervisor/process/shim/shim.hpp"

int main(int argc, char** argv) {
  // One heap for both threads: what one of them frees the other can use.
  ::mallopt(M_ARENA_MAX, 1);
  if (argc == 3 && std::string_view(argv[1]) == trainward::shim::keep_option) {
    return trainward::shim::keep_state(
        trainward::number_in<std::int64_t>(std::string_view(argv[2])).value_or(0));
  }
  if (argc != 2) {
    std::fputs("trainward-shim: usage: trainward-shim ATTEMPT_FOLDER (trainwardd starts it)\n",
               stderr);
    return trainward::exit_code::usage;
  }
  // Away from the daemon's session, so that its terminal's Ctrl-C and hang-up do not reach
  // training.
  ::setsid();
  ::umask(::umask(0) | 027);  // the worker inherits it
  if (auto ended = trainward::shim::run(argv[1]); !ended) {
    std::fprintf(stderr, "trainward-shim: %s\n", trainward::clean(ended.error().message()).c_str());
    return trainward::exit_code::failed;
  }
  return trainward::exit_code::done;
}
