// `trainwardctl notify test`: one message to each channel, at once, beside the journal: what
// becomes of it is told to who asked, and to nobody else.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/courier/jobs/channels/channel_job.hpp"
#include "supervisor/orders/channels.hpp"

namespace trainward::courier {

// {"channel", "kind", "ok", "words"}: what happened, in words without secrets.
json::object try_channel(const orders::Channel& channel, const ChannelContext& context,
                         std::int64_t now_ms, const std::stop_token& stop);

// How trainward-courier is asked for it.
inline constexpr const char* try_channels_word = "try-channels";

// Orders as JSON on stdin, a line as above on stdout for each of their channels. Exit code 0: all
// were taken; 1: some were not; 78: the orders make no sense.
int try_channels();

}  // namespace trainward::courier
