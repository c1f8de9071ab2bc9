// What an Ethernet core's memory says of its link.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hwprobe/tenstorrent/decode/board_id.hpp"
#include "hwprobe/tenstorrent/decode/ethernet.hpp"
#include "hwprobe/tenstorrent/decode/versions.hpp"

namespace trainward::hwprobe {
namespace {

// Base firmware, and the two marks that fabric firmware is said to leave.
constexpr std::array<std::uint32_t, 3> signatures{0xABCD, 0xAABB, 0xDCBA};
constexpr std::uint32_t held_in_reset = 1U << 11;
constexpr std::uint32_t trained = 1;
constexpr std::uint32_t in_progress = 0;

LinkJudgement down(std::string why) { return {EthernetState::down, std::move(why)}; }

bool known_signature(std::uint32_t heartbeat) {
  return std::find(signatures.begin(), signatures.end(), heartbeat >> 16) != signatures.end();
}

// Nothing when the core itself is well, as far as could be seen.
std::optional<LinkJudgement> judge_core(const EthernetChannel& channel) {
  if (channel.soft_reset && (*channel.soft_reset & held_in_reset) != 0) {
    return down("its Ethernet core is held in reset");
  }
  if (!channel.heartbeat) return std::nullopt;
  if (!known_signature(*channel.heartbeat)) {
    return down(fmt::format("its Ethernet core runs no known firmware, heartbeat {:#010x}",
                            *channel.heartbeat));
  }
  if (channel.later_heartbeat == channel.heartbeat) {
    return down("the heartbeat of its Ethernet core stands still");
  }
  return std::nullopt;
}

// Both ends must say the same board, and not be the same chip.
std::optional<LinkJudgement> judge_other_end(const EthernetChannel& channel,
                                             std::optional<std::uint64_t> board_id) {
  const auto own = board_id ? std::optional(mangled(*board_id)) : channel.local_board_low;
  const bool other_board = own && channel.remote_board_low && *own != *channel.remote_board_low;
  const bool same_chip = channel.local_board_high && channel.remote_board_high &&
                         *channel.local_board_high == *channel.remote_board_high;
  const bool other_channel = channel.remote_channel && *channel.remote_channel > 1;
  if (other_board || same_chip || other_channel) {
    return down("its other end is not chip R of this board");
  }
  return std::nullopt;
}

bool old_firmware(const EthernetChannel& channel) {
  if (!channel.firmware) return false;
  const auto version = Version::of_ethernet(*channel.firmware);
  return version && version->older_than(oldest_ethernet);
}

}  // namespace

std::string link_inactive_text(std::uint32_t reason) {
  constexpr std::array<std::string_view, 15> words{"",
                                                   "wrong chip id",
                                                   "wrong rack",
                                                   "wrong shelf",
                                                   "wrong board id",
                                                   "restart timed out",
                                                   "looped back in the MAC",
                                                   "looped back in the PHY",
                                                   "looped back by a cable",
                                                   "auto-negotiation gave up",
                                                   "no answer to test packets",
                                                   "no signal",
                                                   "no receiver clock",
                                                   "port not populated",
                                                   "port masked"};
  return reason < words.size() ? std::string(words.at(reason)) : std::string();
}

LinkJudgement judge_on_board_link(const EthernetChannel& channel,
                                  std::optional<std::uint64_t> board_id) {
  if (auto core = judge_core(channel)) return std::move(*core);
  // Older firmware keeps everything elsewhere.
  if (old_firmware(channel)) return {EthernetState::unknown, "its firmware is too old to tell"};
  if (channel.port_disable_mask && ((*channel.port_disable_mask >> channel.channel) & 1) != 0) {
    return down("its port is disabled");
  }
  if (!channel.train_status) return {EthernetState::unknown, "it could not be read"};
  if (*channel.train_status == in_progress || channel.retrain_request == 1U) {
    return {EthernetState::training, "still training"};
  }
  if (*channel.train_status != trained) {
    const std::string reason = link_inactive_text(channel.link_inactive.value_or(0));
    return down(reason.empty() ? "training failed" : "training failed: " + reason);
  }
  if (channel.routing_off == 1U) return down("its routing firmware is off");
  if (auto other = judge_other_end(channel, board_id)) return std::move(*other);
  return {EthernetState::up, ""};
}

}  // namespace trainward::hwprobe
