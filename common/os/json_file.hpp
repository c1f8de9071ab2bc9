// A JSON file of foreign origin, read with a limit.
#pragma once

#include <cstddef>
#include <filesystem>

#include "common/base/json.hpp"

namespace trainward {

Result<json::value> read_json_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace trainward
