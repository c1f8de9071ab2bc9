// Pickles. Input: one pickle. What is read must be within its limits, and what can be kept as JSON
// must come back as the same values.
#include "checkpoint/pytorch/pickle/pickle.hpp"
#include "checkpoint/pytorch/pickle/pickle_rebuild.hpp"
#include "checkpoint/pytorch/skeleton.hpp"
#include "checkpoint/pytorch/skeleton_writer.hpp"
#include "require.hpp"
#include "tests/unit/checkpoint/pytorch/memory_source.hpp"

namespace trainward::fuzz {
namespace {

namespace pytorch = checkpoint::pytorch;

void check_tensors(const pytorch::Tree& tree) {
  for (const pytorch::Tensor& tensor : tree.tensors) {
    require(tensor.storage < tree.storages.size(), "a tensor has a storage");
    require(tensor.shape.size() == tensor.stride.size(), "a stride for every extent");
    const auto span = pytorch::span_of(tensor);
    const std::uint64_t bytes = tree.storages[tensor.storage].bytes;
    require(span && tensor.begin <= bytes && *span <= bytes - tensor.begin,
            "a tensor lies in its storage");
  }
}

// A tensor becomes the number of its place, so that the second reading has numbers only.
Result<std::optional<json::value>> replace(const pytorch::Tree& tree,
                                           const pytorch::Occurrence& at) {
  if (tree.tensor(at.node) == nullptr) return std::optional<json::value>();
  return std::optional<json::value>(static_cast<std::int64_t>(at.index));
}

Result<json::value> skeleton_of(const pytorch::Tree& tree) {
  return pytorch::to_skeleton(tree,
                              [&](const pytorch::Occurrence& at) { return replace(tree, at); });
}

void check_round_trip(const pytorch::Tree& tree) {
  const auto skeleton = skeleton_of(tree);
  if (!skeleton) return;
  const auto pickle =
      pytorch::to_pickle(*skeleton, [](const json::object&, pytorch::PickleWriter&) -> Status {
        return fail(ErrorKind::permanent, "there are no leaves");
      });
  require(pickle.has_value(), "a skeleton can be written");
  const auto source = pytorch::source_in_memory(std::as_bytes(std::span(*pickle)), "written");
  const auto again = pytorch::parse_pickle(
      *source, 0, source->size(),
      {.nodes = UINT32_MAX, .links = UINT32_MAX, .text_bytes = UINT32_MAX, .marks = UINT32_MAX});
  require(again.has_value() && again->end == pickle->size(), "what was written can be read");
  const auto second = skeleton_of(again->tree);
  require(second.has_value() && json::serialize(*second) == json::serialize(*skeleton),
          "the same values");
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward::checkpoint::pytorch;
  const auto source = source_in_memory({reinterpret_cast<const std::byte*>(data), size}, "input");
  const auto parsed = parse_pickle(*source, 0, size);
  Limits lenient;
  lenient.unknown_names = true;
  const auto peeked = parse_pickle(*source, 0, size, lenient);
  trainward::fuzz::require(!parsed || (peeked && peeked->end == parsed->end),
                           "what is on the list is read the same way beside what is not");
  if (!parsed) return 0;
  trainward::fuzz::require(parsed->end <= size, "a pickle ends within its bytes");
  trainward::fuzz::check_tensors(parsed->tree);
  trainward::fuzz::check_round_trip(parsed->tree);
  return 0;
}
