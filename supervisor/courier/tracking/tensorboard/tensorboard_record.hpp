// The records of an event file: length, its checksum, data, its checksum. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::tracking {

// u64 length · u32 masked crc of those 8 bytes · data · u32 masked crc of the data, all of them
// little-endian.
void append_record(std::string& out, std::string_view data);

struct Record {
  std::string_view data;
  std::size_t size = 0;  // of the whole record
};

// The record that `bytes` begin with; nothing when they do not begin with a whole and sound one.
std::optional<Record> first_record(std::string_view bytes);

}  // namespace trainward::tracking
