// The bytes of one cached program. Functions over an open file; no state.
//
//   file   := magic version info_size program_size info program digest
//   magic         8 bytes "TWPROG\r\n"
//   version       u32, little-endian as all numbers: 1
//   info_size     u32, at most 32 KiB
//   program_size  u64
//   info          JSON: key, name, platform, plugin, made_ms
//   program       what the plugin serialized
//   digest        SHA-256 over all bytes before it, 64 hexadecimal digits
//
// Wrong bytes are an error of kind corrupt, which says how; other kinds come from the disk or the
// kernel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/program_cache/program_cache.hpp"

namespace trainward::program_cache {

struct EntryHead {
  std::string key;
  ProgramInfo info;
  std::int64_t made_ms = 0;
  std::uint64_t program_at = 0;  // offset in the file
  std::uint64_t program_bytes = 0;
};

inline constexpr std::size_t digest_digits = 64;

// Head and info as they stand in the file before the program.
std::string encode_head(const std::string& key, const ProgramInfo& info, std::int64_t made_ms,
                        std::uint64_t program_bytes);

// Of the file open as `fd`, which is `file_bytes` long and shall be for `key`. Sizes are checked
// against the file's before anything is allocated.
Result<EntryHead> read_head(int fd, std::uint64_t file_bytes, std::string_view key,
                            const std::filesystem::path& where);

// The program, compared with the digest.
Result<std::string> read_program(int fd, const EntryHead& head, const std::filesystem::path& where);

// The same in little memory, for nothing but the comparison.
Status check_program(int fd, const EntryHead& head, const std::filesystem::path& where);

}  // namespace trainward::program_cache
