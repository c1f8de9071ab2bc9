// A JSON file of foreign origin, read with a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "common/base/json/json.hpp"
#include "common/base/json/json_events.hpp"

namespace trainward {

Result<json::value> read_json_file(const std::filesystem::path& path, std::size_t max_bytes);

// The same told to a listener, 64 KiB at a time: nothing of it is kept.
Status tell_json_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                      JsonListener& listener);
// `bytes` of an open file, from `begin` on; `path`: for errors.
Status tell_json(int fd, std::uint64_t begin, std::uint64_t bytes,
                 const std::filesystem::path& path, JsonListener& listener);

}  // namespace trainward
