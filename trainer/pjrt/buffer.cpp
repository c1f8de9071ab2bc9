#include "trainer/pjrt/buffer.hpp"

#include <algorithm>
#include <numeric>

#include "trainer/pjrt/elements.hpp"

namespace trainward::pjrt {

Outcome<graph::Type> Buffer::type() const {
  if (auto owned = handle_.own("Buffer_Dimensions"); !owned) return propagate(owned);
  const Calls& calls = handle_.session().calls();
  abi::Buffer_Dimensions_Args dimensions{};
  dimensions.buffer = handle_.get();
  auto asked = calls.make(&abi::Api::Buffer_Dimensions, "Buffer_Dimensions", dimensions);
  if (!asked) return propagate(asked);
  abi::Buffer_ElementType_Args element{};
  element.buffer = handle_.get();
  asked = calls.make(&abi::Api::Buffer_ElementType, "Buffer_ElementType", element);
  if (!asked) return propagate(asked);
  const auto known = element_of(element.type);
  if (!known) {
    return refuse(ErrorCode::unimplemented, "Buffer_ElementType",
                  fmt::format("the buffer's elements are of type {}, which is not supported",
                              static_cast<int>(element.type)));
  }
  graph::Type type{*known, {}};
  if (dimensions.num_dims > 0) {
    type.shape.assign(dimensions.dims, dimensions.dims + dimensions.num_dims);
  }
  return type;
}

Outcome<void> Buffer::download(std::span<std::byte> into) const {
  constexpr const char* call = "Buffer_ToHostBuffer";
  auto is = type();
  if (!is) return propagate(is);
  const auto count = static_cast<std::size_t>(graph::element_count(is->shape));
  if (count * byte_size(is->element) != into.size()) {
    return refuse(ErrorCode::invalid_argument, call,
                  fmt::format("the buffer is {}, there is room for {} bytes", graph::to_string(*is),
                              into.size()));
  }
  // To ask for an array without bytes would be to ask for its size.
  if (into.empty()) return wait();

  const Calls& calls = handle_.session().calls();
  // Without a layout XLA's plugins give the device's order; Tenstorrent's always gives this one.
  std::vector<std::int64_t> minor_to_major(is->shape.size());
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), std::int64_t{0});
  Padded<abi::Buffer_MemoryLayout> layout;
  layout.value.struct_size = calls.size_of<abi::Buffer_MemoryLayout>();
  layout.value.type = abi::Buffer_MemoryLayout_Type_Tiled;
  layout.value.tiled.struct_size = sizeof(abi::Buffer_MemoryLayout_Tiled);
  layout.value.tiled.minor_to_major = minor_to_major.data();
  layout.value.tiled.minor_to_major_size = minor_to_major.size();

  abi::Buffer_ToHostBuffer_Args args{};
  args.src = handle_.get();
  args.host_layout = &layout.value;
  args.dst = into.data();
  args.dst_size = into.size();
  auto begun = calls.make(&abi::Api::Buffer_ToHostBuffer, call, args);
  if (!begun) return propagate(begun);
  return calls.await(args.event, call);
}

Outcome<void> Buffer::wait() const {
  constexpr const char* call = "Buffer_ReadyEvent";
  if (auto owned = handle_.own(call); !owned) return owned;
  if (!waited_) {
    const Calls& calls = handle_.session().calls();
    abi::Buffer_ReadyEvent_Args args{};
    args.buffer = handle_.get();
    waited_ = calls.make(&abi::Api::Buffer_ReadyEvent, call, args);
    if (*waited_) waited_ = calls.await(args.event, call);
  }
  return *waited_;
}

}  // namespace trainward::pjrt
