#include "hwprobe/watch/stream.hpp"

#include <poll.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <functional>

#include "common/clock.hpp"
#include "common/file.hpp"
#include "common/json.hpp"
#include "hwprobe/described.hpp"
#include "hwprobe/stages/live_files.hpp"
#include "hwprobe/watch/described_samples.hpp"
#include "hwprobe/watch/read_sample.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A board's sample of this round.
using Sampler = std::function<Sample(std::int64_t round)>;

// It becomes part of a path.
bool is_address(const std::string& name) {
  return !name.empty() && name.size() <= 32 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0 || c == ':' || c == '.'; });
}

Result<std::vector<Sampler>> samplers_of_this_host(const StreamOptions& options) {
  std::vector<Sampler> samplers;
  for (const std::string& board : options.boards) {
    if (!is_address(board)) {
      return fail(ErrorKind::usage, "is no PCI address such as 0000:c1:00.0", board);
    }
    samplers.emplace_back([root = options.root, board](std::int64_t /*round*/) {
      LiveFiles files(root, [](milliseconds) {});
      return read_sample(files, board);
    });
  }
  return samplers;
}

Result<std::vector<Sampler>> samplers_of_description(const StreamOptions& options) {
  auto described = read_described(options.host);
  if (!described) return propagate(described);
  std::vector<Sampler> samplers;
  for (const std::string& board : options.boards) {
    const auto found =
        std::find_if(described->begin(), described->end(), [&](const DescribedBoard& candidate) {
          return candidate.facts.serial == board || candidate.facts.bus_id == board;
        });
    if (found == described->end()) {
      return fail(ErrorKind::usage, "the file describes no such board: " + board,
                  options.host.string());
    }
    samplers.emplace_back([board, facts = *found](std::int64_t round) {
      Sample sample = described_sample(facts, round);
      sample.board = board;
      return sample;
    });
  }
  return samplers;
}

// False: nobody reads any more.
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

Status stream_samples(const StreamOptions& options, int output) {
  if (options.boards.empty() || options.boards.size() > most_streamed_boards) {
    return fail(ErrorKind::usage,
                fmt::format("a stream needs 1 to {} boards, by name", most_streamed_boards));
  }
  auto samplers =
      options.host.empty() ? samplers_of_this_host(options) : samplers_of_description(options);
  if (!samplers) return propagate(samplers);
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is our end, not an accident
  const auto interval = std::clamp(options.interval, shortest_interval, longest_interval);
  auto due = Clock::now();
  for (std::int64_t round = 0;; ++round) {
    for (const Sampler& sampler : *samplers) {
      json::object line = to_json(sampler(round));
      line["at_ms"] = now().wall_ms;
      if (!write_all(output, json::serialize(line) + '\n', "output")) return {};
    }
    // What was missed while a read was slow is not made up for.
    due = std::max(due + interval, Clock::now());
    if (!wait_until(due, output)) return {};
  }
}

}  // namespace trainward::hwprobe
