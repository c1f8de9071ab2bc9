#include <algorithm>
#include <cstring>
#include <tuple>

#include "checkpoint/format/safetensors.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace trainward::checkpoint {
namespace {

json::object describe(const TensorView& tensor, std::uint64_t begin) {
  json::array shape(tensor.info.shape.begin(), tensor.info.shape.end());
  const std::string_view dtype = to_string(tensor.info.dtype);
  return {{"dtype", json::string(dtype.data(), dtype.size())},
          {"shape", std::move(shape)},
          {"data_offsets", {begin, begin + tensor.bytes.size()}}};
}

// The length field and the JSON, padded so that the data begins on a page.
std::string pad(std::string text) {
  const std::uint64_t rest = (sizeof(std::uint64_t) + text.size()) % data_alignment;
  if (rest != 0) text.append(data_alignment - rest, ' ');
  const std::uint64_t length = text.size();
  std::string prefix(sizeof length, '\0');
  std::memcpy(prefix.data(), &length, sizeof length);
  return prefix + text;
}

}  // namespace

Result<Layout> plan_safetensors(const std::vector<TensorView>& tensors,
                                const std::map<std::string, std::string>& metadata,
                                std::string_view where) {
  Layout layout;
  for (const TensorView& tensor : tensors) {
    const auto bytes = byte_count(tensor.info);
    if (!bytes || *bytes != tensor.bytes.size()) {
      return fail(
          ErrorKind::usage,
          fmt::format("tensor '{}' has {} bytes, its shape and type need {}", tensor.info.name,
                      tensor.bytes.size(), bytes ? fmt::to_string(*bytes) : "more than 2^61"),
          std::string(where));
    }
    layout.order.push_back(&tensor);
  }
  std::sort(layout.order.begin(), layout.order.end(), [](const TensorView* a, const TensorView* b) {
    return std::make_tuple(bits_of(b->info.dtype), std::string_view(a->info.name)) <
           std::make_tuple(bits_of(a->info.dtype), std::string_view(b->info.name));
  });

  json::object header;
  json::object& notes = header["__metadata__"].emplace_object();
  for (const auto& [key, value] : metadata) notes[key] = value;
  std::uint64_t position = 0;
  for (const TensorView* tensor : layout.order) {
    if (!header.emplace(tensor->info.name, describe(*tensor, position)).second) {
      return fail(ErrorKind::usage, fmt::format("tensor '{}' is given twice", tensor->info.name),
                  std::string(where));
    }
    position += tensor->bytes.size();
  }
  const std::string text = json::serialize(header);
  // Reading back what will be written refuses every name and size that the reader would refuse
  // later, when the memory it came from is gone.
  if (auto ok = parse_safetensors_header(text, position, where); !ok) {
    return fail(ErrorKind::usage, "cannot be written: " + ok.error().what, std::string(where),
                "give every tensor a plain UTF-8 name");
  }
  layout.prefix = pad(text);
  layout.file_bytes = layout.prefix.size() + position;
  return layout;
}

}  // namespace trainward::checkpoint
