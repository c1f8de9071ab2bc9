// The safetensors format: `u64 little-endian N | N bytes of JSON | data`.
//
// Written with the JSON padded by spaces so that the data starts on a page (4096 bytes: mmap and
// O_DIRECT need it), tensors ordered by falling element size, so each is aligned to its own
// elements, then by name. Read with everything checked before a byte of data is touched: the header
// fits its file and a cap, is UTF-8 JSON without duplicate keys, and the tensors cover the data
// exactly: no hole, no overlap, nothing behind the last. A tensor's size is its shape's product,
// computed without overflow.
//
// Errors are of kind corrupt (a file) or usage (tensors given to write) and name the tensor. Pure.
// Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/format/tensor.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint {

// What the Hugging Face Hub's reader takes; the format itself says 100,000,000. It bounds what a
// hostile header can make us allocate.
inline constexpr std::uint64_t max_header_bytes = 25'000'000;
inline constexpr std::uint64_t data_alignment = 4096;

struct Slot {
  TensorInfo info;
  std::uint64_t begin = 0;  // in bytes from the start of the data
  std::uint64_t end = 0;
};

struct Header {
  std::uint64_t data_offset = 0;  // in bytes from the start of the file
  std::vector<Slot> slots;        // in the order of the data
  std::map<std::string, std::string> metadata;
};

// Checks the JSON of a header against the number of bytes that follow it; data_offset stays 0.
// `most_entries`: as parse_strict_json() has it; each tensor has fourteen.
Result<Header> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                        std::string_view where,
                                        std::size_t most_entries = max_json_entries);

// Fills `to` with so many bytes of a file from `at` on.
using ReadAt = std::function<Status(char* to, std::size_t size, std::uint64_t at)>;

// Reads and checks the header of a file of `file_bytes` bytes.
Result<Header> read_safetensors_header(const ReadAt& read, std::uint64_t file_bytes,
                                       std::string_view where,
                                       std::size_t most_entries = max_json_entries);

// The same of a file that lies in memory.
Result<Header> read_safetensors_header(std::span<const std::byte> file, std::string_view where);

// How a file of these tensors is laid out: `prefix` (the length and the padded JSON), then the
// bytes of every tensor in this order.
struct Layout {
  std::string prefix;
  std::vector<std::size_t> order;    // indices of the tensors that were given
  std::vector<std::uint64_t> begin;  // where each of them begins, in bytes from the file's start
  std::uint64_t file_bytes = 0;
};

Result<Layout> plan_safetensors(const std::vector<TensorInfo>& tensors,
                                const std::map<std::string, std::string>& metadata,
                                std::string_view where);

}  // namespace trainward::checkpoint
