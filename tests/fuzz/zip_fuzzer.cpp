// Whole files of torch.save: the zip layout with its pickle, and, by the first bytes, the legacy
// one. What is imported must have a name, a size and bytes that can be read or are found damaged.
#include <algorithm>
#include <set>

#include "checkpoint/pytorch/archive/zip_directory.hpp"
#include "checkpoint/pytorch/import.hpp"
#include "require.hpp"
#include "tests/unit/checkpoint/pytorch/memory_source.hpp"

namespace trainward::fuzz {
namespace {

namespace pytorch = checkpoint::pytorch;

void check_directory(const pytorch::SharedSource& source) {
  const auto entries = pytorch::read_zip_directory(*source);
  if (!entries) return;
  std::uint64_t end = 0;
  std::set<std::string> names;
  for (const pytorch::ZipEntry& entry : *entries) {
    require(entry.header >= end && entry.data >= entry.header + 30, "entries follow one another");
    require(entry.data <= source->size() && entry.bytes <= source->size() - entry.data,
            "an entry lies in its file");
    require(names.insert(entry.name).second, "a name stands for one entry");
    end = entry.data + entry.bytes;
  }
}

void read_some(const checkpoint::TensorSource& tensor) {
  const auto bytes = checkpoint::byte_count(tensor.info);
  require(bytes.has_value(), "a tensor has a size");
  std::vector<std::byte> part(std::min<std::uint64_t>(*bytes, 4096));
  if (!tensor.read(0, part)) return;
  require(tensor.read(*bytes - part.size(), part).has_value(), "the rest can be read too");
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  const auto source = checkpoint::pytorch::source_in_memory(
      {reinterpret_cast<const std::byte*>(data), size}, "input");
  fuzz::check_directory(source);
  const auto inspected = checkpoint::pytorch::inspect_pytorch(source);
  if (!inspected) return 0;
  std::set<std::string> names;
  for (const auto* list : {&inspected->contents.model, &inspected->contents.optimizer}) {
    for (const checkpoint::TensorSource& tensor : *list) {
      fuzz::require(names.insert(tensor.info.name).second, "a name stands for one tensor");
      fuzz::read_some(tensor);
    }
  }
  return 0;
}
