// trainward-shim ATTEMPT_FOLDER: keeps one attempt. Started by trainwardd, not by hand.
// trainward-shim --keep-state MILLISECONDS: keeps what a worker has left in memory. Started by the
// former at its end.
// trainward-shim --standby FOLDER: has the worker of the next attempt ready. Started by trainwardd.

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "common/base/number_in.hpp"
#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/process/shim/memory/state_keeper.hpp"
#include "supervisor/process/shim/shim.hpp"
#include "supervisor/process/shim/standby_order.hpp"

int main(int argc, char** argv) {
  // One heap for both threads: what one of them frees the other can use.
  ::mallopt(M_ARENA_MAX, 1);
  if (argc == 3 && std::string_view(argv[1]) == trainward::shim::keep_option) {
    return trainward::shim::keep_state(
        trainward::number_in<std::int64_t>(std::string_view(argv[2])).value_or(0));
  }
  const bool standby = argc == 3 && std::string_view(argv[1]) == trainward::shim::standby_option;
  if (argc != 2 && !standby) {
    std::fputs("trainward-shim: usage: trainward-shim ATTEMPT_FOLDER (trainwardd starts it)\n",
               stderr);
    return trainward::exit_code::usage;
  }
  // Away from the daemon's session, so that its terminal's Ctrl-C and hang-up do not reach
  // training.
  ::setsid();
  ::umask(::umask(0) | 027);  // the worker inherits it
  const auto ended =
      standby ? trainward::shim::run_standby(argv[2]) : trainward::shim::run(argv[1]);
  if (!ended) {
    std::fprintf(stderr, "trainward-shim: %s\n", trainward::clean(ended.error().message()).c_str());
    return trainward::exit_code::failed;
  }
  return trainward::exit_code::done;
}
