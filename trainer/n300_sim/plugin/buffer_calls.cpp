// What a buffer says of itself, and its end.
#include <memory>

#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"
#include "trainer/pjrt/elements.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;

Answer<void> destroy(abi::Buffer_Destroy_Args& args) {
  if (auto ok = args.buffer->machine->check_thread(); !ok) return ok;
  dispose(args.buffer);
  return {};
}

Answer<void> element_type(abi::Buffer_ElementType_Args& args) {
  args.type = pjrt::buffer_type(args.buffer->type.element);
  return {};
}

Answer<void> dimensions(abi::Buffer_Dimensions_Args& args) {
  args.dims = args.buffer->type.shape.data();
  args.num_dims = args.buffer->type.shape.size();
  return {};
}

Answer<void> unpadded_dimensions(abi::Buffer_UnpaddedDimensions_Args& args) {
  args.unpadded_dims = args.buffer->type.shape.data();
  args.num_dims = args.buffer->type.shape.size();
  return {};
}

Answer<void> dynamic_dimensions(abi::Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return {};
}

Answer<void> device(abi::Buffer_Device_Args& args) {
  args.device = args.buffer->device;
  return {};
}

Answer<void> memory(abi::Buffer_Memory_Args& args) {
  args.memory = &args.buffer->device->memory;
  return {};
}

Answer<void> remove(abi::Buffer_Delete_Args& args) {
  if (auto ok = args.buffer->machine->check_thread(); !ok) return ok;
  args.buffer->block.reset();
  return {};
}

Answer<void> is_deleted(abi::Buffer_IsDeleted_Args& args) {
  args.is_deleted = !args.buffer->block.has_value();
  return {};
}

Answer<void> is_on_cpu(abi::Buffer_IsOnCpu_Args& args) {
  args.is_on_cpu = false;
  return {};
}

// As in the real plugin, once per buffer.
Answer<void> ready_event(abi::Buffer_ReadyEvent_Args& args) {
  if (args.buffer->ready_event_taken) {
    return fail_internally("the ready event of a buffer can be taken once");
  }
  args.buffer->ready_event_taken = true;
  args.event = make_event(*args.buffer->machine, args.buffer->ready);
  return {};
}

}  // namespace

void bind_buffer_calls(abi::Api& api) {
  api.Buffer_Destroy = entry<&destroy>;
  api.Buffer_ElementType = entry<&element_type>;
  api.Buffer_Dimensions = entry<&dimensions>;
  api.Buffer_UnpaddedDimensions = entry<&unpadded_dimensions>;
  api.Buffer_DynamicDimensionIndices = entry<&dynamic_dimensions>;
  api.Buffer_Device = entry<&device>;
  api.Buffer_Memory = entry<&memory>;
  api.Buffer_Delete = entry<&remove>;
  api.Buffer_IsDeleted = entry<&is_deleted>;
  api.Buffer_IsOnCpu = entry<&is_on_cpu>;
  api.Buffer_ReadyEvent = entry<&ready_event>;
}

}  // namespace trainward::n300
