// The header of a safetensors file that is open.
#pragma once

#include "checkpoint/format/safetensors.hpp"

namespace trainward::checkpoint {

// Reads and checks it; the file has `file_bytes` bytes. `most_entries`: as
// parse_safetensors_header() has it.
Result<Header> read_safetensors_header(int fd, std::uint64_t file_bytes, std::string_view where,
                                       std::size_t most_entries = max_json_entries);

}  // namespace trainward::checkpoint
