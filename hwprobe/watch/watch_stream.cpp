#include "hwprobe/watch/watch_stream.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>

#include "common/base/json/json.hpp"
#include "common/os/clock.hpp"
#include "common/os/file.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// False: the reader is gone.
bool wait_until(Clock::time_point due, int output) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(due - Clock::now());
    if (left <= milliseconds(0)) return true;
    pollfd reader{output, 0, 0};
    const int got = ::poll(&reader, 1, static_cast<int>(left.count()));
    if (got > 0) return false;  // POLLERR: the other end is closed
  }
}

}  // namespace

Status stream_samples(const std::vector<Sampler>& samplers, std::chrono::milliseconds asked,
                      int output) {
  if (samplers.empty() || samplers.size() > most_streamed_boards) {
    return fail(ErrorKind::usage,
                fmt::format("a stream needs 1 to {} boards, by name", most_streamed_boards));
  }
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is our end, not an accident
  const auto interval = std::clamp(asked, shortest_interval, longest_interval);
  auto due = Clock::now();
  for (std::int64_t round = 0;; ++round) {
    for (const Sampler& sampler : samplers) {
      json::object line = to_json(sampler(round));
      line["at_ms"] = now().wall.ms;
      if (!write_all(output, json::serialize(line) + '\n', "output")) return {};
    }
    // What was missed while a read was slow is not made up for.
    due = std::max(due + interval, Clock::now());
    if (!wait_until(due, output)) return {};
  }
}

}  // namespace trainward::hwprobe
