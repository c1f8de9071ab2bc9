// The contract between a worker and its supervisor (docs/worker-protocol.md).
//
// A worker sends datagrams of newline-separated KEY=VALUE pairs, as sd_notify does, to the Unix
// datagram socket in $TRAINWARD_SOCKET (common/wire/notifier.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainward {

namespace env {
inline constexpr const char* socket = "TRAINWARD_SOCKET";
inline constexpr const char* notify_socket = "NOTIFY_SOCKET";
inline constexpr const char* run = "TRAINWARD_RUN";
inline constexpr const char* attempt = "TRAINWARD_ATTEMPT";
inline constexpr const char* nonce = "TRAINWARD_NONCE";
inline constexpr const char* checkpoint_dir = "TRAINWARD_CHECKPOINT_DIR";
inline constexpr const char* resume_from = "TRAINWARD_RESUME_FROM";
inline constexpr const char* program_cache = "TRAINWARD_PROGRAM_CACHE";
inline constexpr const char* plan = "TRAINWARD_PLAN";
inline constexpr const char* memory = "TRAINWARD_MEMORY";
// Of a described host's board: what its simulated device is to do. For the device's plugin alone.
inline constexpr const char* simulate = "TRAINWARD_SIMULATE";
}  // namespace env

// Exit codes of a worker, and of `trainwardd --once`.
namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int usage = 2;
inline constexpr int left_behind = 74;     // done, and not all of it left this machine (EX_IOERR)
inline constexpr int try_again = 75;       // sysexits EX_TEMPFAIL
inline constexpr int configuration = 78;   // sysexits EX_CONFIG: do not retry
inline constexpr int do_not_requeue = 93;  // another host would not help either
}  // namespace exit_code

// What a worker may say of numbers; beyond it is a mistake that must not stay in the records. Ten
// million steps a second for a day, and a thousand times all text there is.
inline constexpr std::int64_t max_step = 1'000'000'000'000;
inline constexpr std::int64_t max_tokens = 1'000'000'000'000'000;
inline constexpr std::int64_t max_duration_ms = 365 * 24 * 3'600'000LL;
// A loss or another measure; far below what a number may hold, so that sums of them stay numbers.
inline constexpr double max_measure = 1e30;

// Bytes of a device's memory.
inline constexpr std::int64_t max_memory_bytes = std::int64_t{1} << 50;

using Message = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t max_message_bytes = 16 * 1024;
inline constexpr std::size_t max_value_bytes = 4096;

// Newlines in values become spaces.
std::string encode(const Message& message);

// Garbage is dropped pair by pair: keys are [A-Z][A-Z0-9_]{0,31}, values printable UTF-8 or not,
// at most 4096 bytes; at most 64 pairs. Never fails.
Message parse_message(std::string_view datagram);

std::optional<std::string_view> find(const Message& message, std::string_view key);
std::optional<std::int64_t> find_int(const Message& message, std::string_view key);
std::optional<double> find_number(const Message& message, std::string_view key);

}  // namespace trainward
