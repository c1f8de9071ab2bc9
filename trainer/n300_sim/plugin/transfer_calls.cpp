// Bytes to a chip, from a chip, and from one chip to another.
//
// The host's layout is dense and row-major, whichever way it is spelt. What comes from the host is
// copied before the call returns, whatever semantics the caller allows. What goes to the host is
// there when the buffer is ready.
#include <cstring>
#include <limits>
#include <memory>

#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"
#include "trainer/n300_sim/plugin/plugin_elements.hpp"
#include "trainer/pjrt/elements.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;

std::int64_t host_element_bytes(graph::Element element) {
  return static_cast<std::int64_t>(host_bytes({element, {}}));
}

// Strides of axes with one element do not matter.
bool is_dense(const graph::Type& type, const std::int64_t* strides, std::size_t count) {
  if (count == 0) return true;
  if (count != type.shape.size()) return false;
  const graph::Shape dense = graph::contiguous_strides(type.shape);
  for (std::size_t i = 0; i < count; ++i) {
    if (type.shape[i] != 1 && strides[i] != dense[i] * host_element_bytes(type.element)) {
      return false;
    }
  }
  return true;
}

bool is_dense(const graph::Type& type, const abi::Buffer_MemoryLayout* layout) {
  if (layout == nullptr) return true;
  if (layout->type == abi::Buffer_MemoryLayout_Type_Strides) {
    return is_dense(type, layout->strides.byte_strides, layout->strides.num_byte_strides);
  }
  const abi::Buffer_MemoryLayout_Tiled& tiled = layout->tiled;
  if (tiled.num_tiles != 0 || tiled.minor_to_major_size != type.shape.size()) return false;
  for (std::size_t i = 0; i < tiled.minor_to_major_size; ++i) {
    if (tiled.minor_to_major[i] + 1 + static_cast<std::int64_t>(i) !=
        static_cast<std::int64_t>(type.shape.size())) {
      return false;
    }
  }
  return true;
}

constexpr std::size_t most_axes = 16;
constexpr std::int64_t most_elements = std::int64_t{1} << 40;

Answer<graph::Type> type_of(const abi::Client_BufferFromHostBuffer_Args& args) {
  const auto element = pjrt::element_of(args.type);
  if (!element) {
    return fail_internally(
        fmt::format("element type {} is not simulated", static_cast<int>(args.type)));
  }
  if (args.num_dims > most_axes) return fail_internally("too many dimensions");
  graph::Type type{*element, {args.dims, args.dims + args.num_dims}};
  std::int64_t elements = 1;
  for (const std::int64_t size : type.shape) {
    if (size < 0 || (size > 0 && elements > most_elements / size)) {
      return fail_internally("impossible dimensions");
    }
    elements *= size;
  }
  return type;
}

Answer<std::unique_ptr<abi::Buffer>> make_buffer(abi::Device& device, const graph::Type& type) {
  const std::shared_ptr<Machine>& machine = device.client->machine;
  auto block = machine->allocate(static_cast<std::size_t>(device.description.id),
                                 device_bytes(type), stored_bytes(type));
  if (!block) return pass_on(block);
  return std::make_unique<abi::Buffer>(machine, &device, type, *std::move(block));
}

Answer<void> upload(abi::Client_BufferFromHostBuffer_Args& args) {
  if (auto ok = args.client->machine->check_thread(); !ok) return ok;
  auto type = type_of(args);
  if (!type) return pass_on(type);
  if (args.device_layout != nullptr &&
      args.device_layout->type == abi::Buffer_MemoryLayout_Type_Tiled) {
    return fail_unimplemented();
  }
  if (!is_dense(*type, args.byte_strides, args.num_byte_strides) ||
      !is_dense(*type, args.device_layout)) {
    return fail_unimplemented();
  }
  abi::Device* device = args.device;
  if (device == nullptr) {
    device = args.memory != nullptr ? args.memory->device : args.client->device_list[0];
  }
  auto buffer = make_buffer(*device, *type);
  if (!buffer) return pass_on(buffer);
  store(*type, args.data, (*buffer)->block->data());
  args.done_with_host_buffer = make_event();
  args.buffer = buffer->release();
  return {};
}

// What a buffer is read by: on its thread, and while there is something to read.
Answer<void> check_readable(const abi::Buffer& buffer) {
  if (auto ok = buffer.machine->check_thread(); !ok) return ok;
  if (auto ok = buffer.machine->check_open(); !ok) return ok;
  if (!buffer.block) return fail_internally("the buffer has been deleted");
  return {};
}

Answer<void> download(abi::Buffer_ToHostBuffer_Args& args) {
  if (auto ok = check_readable(*args.src); !ok) return ok;
  const std::size_t bytes = host_bytes(args.src->type);
  if (args.dst == nullptr) {
    args.dst_size = bytes;
    return {};
  }
  if (!is_dense(args.src->type, args.host_layout)) return fail_unimplemented();
  if (args.dst_size < bytes) {
    return fail_internally(fmt::format("{} bytes do not fit into {}", bytes, args.dst_size));
  }
  fetch(args.src->type, args.src->block->data(), args.dst);
  args.event = make_event(*args.src->machine, args.src->ready);
  return {};
}

Answer<abi::Buffer*> copy(const abi::Buffer& from, abi::Device& device) {
  if (auto ok = check_readable(from); !ok) return pass_on(ok);
  auto buffer = make_buffer(device, from.type);
  if (!buffer) return pass_on(buffer);
  (*buffer)->ready = from.ready;
  if (const std::size_t bytes = stored_bytes(from.type); bytes > 0) {
    std::memcpy((*buffer)->block->data(), from.block->data(), bytes);
  }
  return buffer->release();
}

Answer<void> copy_to_device(abi::Buffer_CopyToDevice_Args& args) {
  return copy(*args.buffer, *args.dst_device).map([&](abi::Buffer* it) { args.dst_buffer = it; });
}

Answer<void> copy_to_memory(abi::Buffer_CopyToMemory_Args& args) {
  return copy(*args.buffer, *args.dst_memory->device).map([&](abi::Buffer* it) {
    args.dst_buffer = it;
  });
}

}  // namespace

void bind_transfer_calls(abi::Api& api) {
  api.Client_BufferFromHostBuffer = entry<&upload>;
  api.Buffer_ToHostBuffer = entry<&download>;
  api.Buffer_CopyToDevice = entry<&copy_to_device>;
  api.Buffer_CopyToMemory = entry<&copy_to_memory>;
}

}  // namespace trainward::n300
