// The header of a safetensors file. Input: eight bytes, little-endian, the size of the data that is
// said to follow the header; then the header's JSON.
#include <cstring>
#include <map>
#include <tuple>

#include "checkpoint/format/safetensors.hpp"
#include "require.hpp"

namespace trainward::fuzz {
namespace {

using checkpoint::Header;
using checkpoint::Slot;

void check_cover(const Header& header, std::uint64_t data_bytes) {
  std::uint64_t position = 0;
  for (const Slot& slot : header.slots) {
    require(slot.begin == position && slot.end >= slot.begin, "tensors follow one another");
    require(checkpoint::byte_count(slot.info) == slot.end - slot.begin, "a shape fits its bytes");
    position = slot.end;
  }
  require(position == data_bytes, "tensors cover the data");
}

auto described(const Header& header) {
  std::map<std::string, std::tuple<checkpoint::DType, std::vector<std::int64_t>>> tensors;
  for (const Slot& slot : header.slots) {
    require(tensors.emplace(slot.info.name, std::tuple(slot.info.dtype, slot.info.shape)).second,
            "a name stands for one tensor");
  }
  return tensors;
}

void check_again(const Header& header, std::uint64_t data_bytes) {
  std::vector<checkpoint::TensorInfo> tensors;
  for (const Slot& slot : header.slots) tensors.push_back(slot.info);
  const auto layout = checkpoint::plan_safetensors(tensors, header.metadata, "planned");
  require(layout.has_value(), "what was read can be written");
  require(layout->prefix.size() % checkpoint::data_alignment == 0, "data begins on a page");
  require(layout->file_bytes == layout->prefix.size() + data_bytes, "no byte is added or lost");
  const auto text = std::string_view(layout->prefix).substr(sizeof(std::uint64_t));
  const auto again = checkpoint::parse_safetensors_header(text, data_bytes, "written");
  require(again.has_value(), "what was written can be read");
  require(described(*again) == described(header), "the same tensors");
  require(again->metadata == header.metadata, "the same metadata");
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t data_bytes = 0;
  if (size < sizeof data_bytes) return 0;
  std::memcpy(&data_bytes, data, sizeof data_bytes);
  const auto text = trainward::fuzz::text_of(data, size).substr(sizeof data_bytes);
  const auto header = trainward::checkpoint::parse_safetensors_header(text, data_bytes, "input");
  if (!header) return 0;
  trainward::fuzz::check_cover(*header, data_bytes);
  trainward::fuzz::check_again(*header, data_bytes);
  return 0;
}
