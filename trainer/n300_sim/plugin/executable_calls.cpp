// What an executable says of itself, its bytes, and its end.
#include <cstring>
#include <memory>

#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"
#include "trainer/n300_sim/serialized.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;

Answer<void> destroy(abi::Executable_Destroy_Args& args) {
  dispose(args.executable);
  return {};
}

Answer<void> name(abi::Executable_Name_Args& args) {
  args.executable_name = args.executable->image->name.data();
  args.executable_name_size = args.executable->image->name.size();
  return {};
}

Answer<void> replicas(abi::Executable_NumReplicas_Args& args) {
  args.num_replicas = static_cast<std::size_t>(args.executable->image->replicas);
  return {};
}

Answer<void> partitions(abi::Executable_NumPartitions_Args& args) {
  args.num_partitions = 1;
  return {};
}

Answer<void> output_count(abi::Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->image->outputs.size();
  return {};
}

Answer<void> code_size(abi::Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = -1;
  return {};
}

Answer<void> memory_kinds(abi::Executable_OutputMemoryKinds_Args& args) {
  // As many as any program has outputs; they are all the same.
  const std::size_t count = args.executable->image->outputs.size();
  static thread_local std::vector<const char*> kinds;
  static thread_local std::vector<std::size_t> sizes;
  if (kinds.size() < count) {
    kinds.resize(count, memory_kind.data());
    sizes.resize(count, memory_kind.size());
  }
  args.num_outputs = count;
  args.memory_kinds = kinds.data();
  args.memory_kind_sizes = sizes.data();
  return {};
}

// Asked twice: for the size, and with room for so many bytes.
Answer<void> optimized_program(abi::Executable_OptimizedProgram_Args& args) {
  static constexpr std::string_view format = "mlir";
  const std::string& text = args.executable->image->text;
  abi::Program& program = *args.program;
  program.format = format.data();
  program.format_size = format.size();
  if (program.code != nullptr) {
    if (program.code_size < text.size()) return fail_internally("too little room for the program");
    std::memcpy(program.code, text.data(), text.size());
  }
  program.code_size = text.size();
  return {};
}

Answer<void> fingerprint(abi::Executable_Fingerprint_Args& args) {
  args.executable_fingerprint = args.executable->image->fingerprint.data();
  args.executable_fingerprint_size = args.executable->image->fingerprint.size();
  return {};
}

Answer<void> output_types(abi::Executable_OutputElementTypes_Args& args) {
  // The interface leaves out the const; callers do not write there.
  args.output_types = const_cast<abi::Buffer_Type*>(args.executable->image->output_types.data());
  args.num_output_types = args.executable->image->output_types.size();
  return {};
}

Answer<void> output_dimensions(abi::Executable_OutputDimensions_Args& args) {
  args.num_outputs = args.executable->image->outputs.size();
  args.dims = args.executable->image->output_dimensions.data();
  args.dim_sizes = args.executable->image->output_ranks.data();
  return {};
}

Answer<void> serialize(abi::Executable_Serialize_Args& args) {
  auto serialized = std::make_unique<abi::SerializedExecutable>();
  serialized->bytes = seal_program(args.executable->image->text);
  args.serialized_bytes = serialized->bytes.data();
  args.serialized_bytes_size = serialized->bytes.size();
  args.serialized_executable = serialized.release();
  args.serialized_executable_deleter = [](abi::SerializedExecutable* it) { dispose(it); };
  return {};
}

Answer<void> destroy_loaded(abi::LoadedExecutable_Destroy_Args& args) {
  if (auto ok = args.executable->machine->check_thread(); !ok) return ok;
  dispose(args.executable);
  return {};
}

Answer<void> executable_of(abi::LoadedExecutable_GetExecutable_Args& args) {
  args.executable =
      std::make_unique<abi::Executable>(abi::Executable{args.loaded_executable->image}).release();
  return {};
}

Answer<void> devices(abi::LoadedExecutable_AddressableDevices_Args& args) {
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
  return {};
}

Answer<void> remove(abi::LoadedExecutable_Delete_Args& args) {
  if (auto ok = args.executable->machine->check_thread(); !ok) return ok;
  args.executable->program.reset();
  return {};
}

Answer<void> is_deleted(abi::LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = !args.executable->program.has_value();
  return {};
}

// Empty, as the real plugin's.
Answer<void> assignment(abi::LoadedExecutable_GetDeviceAssignment_Args& args) {
  auto serialized = std::make_unique<abi::DeviceAssignmentSerialized>();
  args.serialized_bytes = serialized->bytes.data();
  args.serialized_bytes_size = 0;
  args.serialized_device_assignment = serialized.release();
  args.serialized_device_assignment_deleter = [](abi::DeviceAssignmentSerialized* it) {
    dispose(it);
  };
  return {};
}

}  // namespace

void bind_executable_calls(abi::Api& api) {
  api.Executable_Destroy = entry<&destroy>;
  api.Executable_Name = entry<&name>;
  api.Executable_NumReplicas = entry<&replicas>;
  api.Executable_NumPartitions = entry<&partitions>;
  api.Executable_NumOutputs = entry<&output_count>;
  api.Executable_SizeOfGeneratedCodeInBytes = entry<&code_size>;
  api.Executable_OutputMemoryKinds = entry<&memory_kinds>;
  api.Executable_OptimizedProgram = entry<&optimized_program>;
  api.Executable_Fingerprint = entry<&fingerprint>;
  api.Executable_OutputElementTypes = entry<&output_types>;
  api.Executable_OutputDimensions = entry<&output_dimensions>;
  api.Executable_Serialize = entry<&serialize>;
  api.LoadedExecutable_Destroy = entry<&destroy_loaded>;
  api.LoadedExecutable_GetExecutable = entry<&executable_of>;
  api.LoadedExecutable_AddressableDevices = entry<&devices>;
  api.LoadedExecutable_Delete = entry<&remove>;
  api.LoadedExecutable_IsDeleted = entry<&is_deleted>;
  api.LoadedExecutable_GetDeviceAssignment = entry<&assignment>;
}

}  // namespace trainward::n300
