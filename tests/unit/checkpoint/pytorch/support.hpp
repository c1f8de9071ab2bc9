// What the tests of checkpoint/pytorch/ share: pickles spelled by hand, sample files, zip files
// that say what no honest program would.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/pytorch/archive/archive.hpp"
#include "checkpoint/pytorch/archive/archive_writer.hpp"
#include "checkpoint/pytorch/archive/pickle_writer.hpp"
#include "checkpoint/pytorch/pickle/pickle.hpp"

namespace trainward::checkpoint::pytorch::testing {

using namespace std::string_literals;

SharedSource memory(const std::string& bytes);  // which must outlive it
Result<Parsed> parse(const std::string& pickle, const Limits& limits = {});

std::string little(std::uint64_t value, unsigned bytes);
std::string text(std::string_view value);                          // as BINUNICODE
std::string name(std::string_view module, std::string_view name);  // as GLOBAL

// A pickle of protocol 2 around opcodes that leave one value.
std::string pickle(std::string_view body);
// Opcodes that leave a tensor.
struct TensorText {
  std::string storage = "FloatStorage";
  std::string key = "0";
  std::uint32_t elements = 4;
  std::uint32_t offset = 0;
  std::vector<std::int64_t> shape = {4};
  std::vector<std::int64_t> stride = {1};
};
std::string tensor(const TensorText& values, Layout layout = Layout::zip);

// A file of a dictionary {"w": float tensor [2, 3], "b": bfloat16 [3], "step": 5}.
std::string sample(Layout layout);
// A file with this object and these storages, keys "0", "1", …, of bytes.
std::string file_of(Layout layout, const std::string& pickle,
                    const std::vector<std::string>& storages);

// A zip file entry by entry, for headers that lie.
struct RawEntry {
  std::string name;
  std::string data;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;           // 0: not computed
  std::string local_name = {};     // empty: `name`
  std::int64_t local_size = -1;    // -1: the size of the data
  std::int64_t claimed_size = -1;  // unpacked, in both headers
  std::int64_t header_at = -1;     // in the directory; -1: where it is
  std::string extra = {};          // of the local header
};
std::string raw_zip(const std::vector<RawEntry>& entries, std::string_view between = {},
                    std::string_view comment = {});

}  // namespace trainward::checkpoint::pytorch::testing
