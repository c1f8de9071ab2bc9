#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "checkpoint/format/safetensors.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace trainward::checkpoint {
namespace {

json::object describe(const TensorInfo& tensor, std::uint64_t begin, std::uint64_t end) {
  json::array shape(tensor.shape.begin(), tensor.shape.end());
  const std::string_view dtype = to_string(tensor.dtype);
  return {{"dtype", json::string(dtype.data(), dtype.size())},
          {"shape", std::move(shape)},
          {"data_offsets", {begin, end}}};
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

Result<Layout> plan_safetensors(const std::vector<TensorInfo>& tensors,
                                const std::map<std::string, std::string>& metadata,
                                std::string_view where) {
  Layout layout;
  layout.order.resize(tensors.size());
  std::iota(layout.order.begin(), layout.order.end(), std::size_t{0});
  std::sort(layout.order.begin(), layout.order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(bits_of(tensors[b].dtype), std::string_view(tensors[a].name)) <
           std::make_tuple(bits_of(tensors[a].dtype), std::string_view(tensors[b].name));
  });

  json::object header;
  json::object& notes = header["__metadata__"].emplace_object();
  for (const auto& [key, value] : metadata) notes[key] = value;
  std::uint64_t position = 0;
  for (const std::size_t index : layout.order) {
    const TensorInfo& tensor = tensors[index];
    const auto bytes = byte_count(tensor);
    if (!bytes) {
      return fail(ErrorKind::usage,
                  fmt::format("tensor '{}' of {}[{}] is not a whole number of bytes below 2^61",
                              tensor.name, to_string(tensor.dtype), fmt::join(tensor.shape, ",")),
                  std::string(where));
    }
    const std::uint64_t end = position + *bytes;
    if (!header.emplace(tensor.name, describe(tensor, position, end)).second) {
      return fail(ErrorKind::usage, fmt::format("tensor '{}' is given twice", tensor.name),
                  std::string(where));
    }
    layout.begin.push_back(position);
    position = end;
  }
  const std::string text = json::serialize(header);
  // Reading back what will be written refuses every name and size that the reader would refuse
  // later, when the memory it came from is gone.
  if (auto ok = parse_safetensors_header(text, position, where); !ok) {
    return fail(ErrorKind::usage, "cannot be written: " + ok.error().what, std::string(where),
                "give every tensor a plain UTF-8 name");
  }
  layout.prefix = pad(text);
  for (std::uint64_t& begin : layout.begin) begin += layout.prefix.size();
  layout.file_bytes = layout.prefix.size() + position;
  return layout;
}

}  // namespace trainward::checkpoint
