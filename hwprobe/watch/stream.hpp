// Samples of some boards, again and again: what `trainward-probe --stream MS BOARD…` does.
//
// Out: on `output` a line a board and round, at once and then every `interval`: a sample as JSON,
// of at most 1 KiB. Opens no device. Ends when nobody reads any more, and only then. A read that
// hangs in the kernel stops the stream: whoever started it ends it, and gives each board a stream
// of its own, so that one does not silence the others. Errors: kind usage when a board's name is
// none, or a description does not have it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace trainward::hwprobe {

inline constexpr std::chrono::milliseconds shortest_interval{10};
inline constexpr std::chrono::milliseconds longest_interval{3'600'000};
inline constexpr std::size_t most_streamed_boards = 64;

struct StreamOptions {
  std::filesystem::path root = "/";
  std::filesystem::path host;  // a described one instead of this
  // PCI addresses; of a described host serials or PCI addresses.
  std::vector<std::string> boards;
  std::chrono::milliseconds interval{10'000};
};

Status stream_samples(const StreamOptions& options, int output);

}  // namespace trainward::hwprobe
