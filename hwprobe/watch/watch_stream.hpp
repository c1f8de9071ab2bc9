// Samples of some boards, again and again: what `trainward-probe --stream MS BOARD…` does.
//
// Out: on `output` a line a board and round, at once and then every `interval`: a sample as JSON,
// of at most 1 KiB. Opens no device. Ends when its reader is gone, and only then. A read that
// hangs in the kernel stops the stream: the caller ends it, and gives each board a separate stream,
// so one does not silence the others. Errors: kind usage when there is no board,
// or more than there may be.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/watch/sample.hpp"

namespace trainward::hwprobe {

inline constexpr std::chrono::milliseconds shortest_interval{10};
inline constexpr std::chrono::milliseconds longest_interval{3'600'000};
inline constexpr std::size_t most_streamed_boards = 64;

// A board's sample of this round, from 0.
using Sampler = std::function<Sample(std::int64_t round)>;

Status stream_samples(const std::vector<Sampler>& samplers, std::chrono::milliseconds interval,
                      int output);

}  // namespace trainward::hwprobe
