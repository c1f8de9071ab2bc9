// The C interface itself: every entry answers, one thread, layouts, and what is asked once.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "n300_sim/plugin_harness.hpp"

namespace trainward::n300::test {
namespace {

namespace abi = pjrt::abi;

class PluginInterface : public ::testing::Test {
 protected:
  PluginInterface() : world_("{\"compiles_without_device\": true}"), api_(plugin_api()) {}

  // The code of a call's error, 0 without one.
  int code_of(abi::Error* error) const {
    if (error == nullptr) return 0;
    abi::Error_GetCode_Args asked{sizeof(asked), nullptr, error, {}};
    EXPECT_EQ(api_.Error_GetCode(&asked), nullptr);
    abi::Error_Message_Args message{sizeof(message), nullptr, error, nullptr, 0};
    api_.Error_Message(&message);
    EXPECT_GT(message.message_size, 0U);
    abi::Error_Destroy_Args destroyed{sizeof(destroyed), nullptr, error};
    api_.Error_Destroy(&destroyed);
    return asked.code;
  }
  abi::Client* create() const {
    abi::Client_Create_Args args{};
    args.struct_size = sizeof(args);
    EXPECT_EQ(code_of(api_.Client_Create(&args)), 0);
    return args.client;
  }
  int destroy(abi::Client* client) const {
    abi::Client_Destroy_Args args{sizeof(args), nullptr, client};
    return code_of(api_.Client_Destroy(&args));
  }
  void destroy(abi::Event* event) const {
    abi::Event_Destroy_Args args{sizeof(args), nullptr, event};
    EXPECT_EQ(code_of(api_.Event_Destroy(&args)), 0);
  }
  int destroy(abi::Buffer* buffer) const {
    abi::Buffer_Destroy_Args args{sizeof(args), nullptr, buffer};
    return code_of(api_.Buffer_Destroy(&args));
  }
  static inline const std::array<std::int64_t, 2> dims_{2, 3};
  static inline const Floats values_{1, 2, 3, 4, 5, 6};
  static abi::Client_BufferFromHostBuffer_Args six_floats(abi::Client* client) {
    abi::Client_BufferFromHostBuffer_Args args{};
    args.struct_size = sizeof(args);
    args.client = client;
    args.data = values_.data();
    args.type = abi::Buffer_Type_F32;
    args.dims = dims_.data();
    args.num_dims = dims_.size();
    return args;
  }
  abi::Buffer* upload_six(abi::Client* client) const {
    auto args = six_floats(client);
    EXPECT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 0);
    destroy(args.done_with_host_buffer);
    return args.buffer;
  }

  World world_;
  const abi::Api& api_;
};

TEST_F(PluginInterface, EveryEntryIsThere) {
  EXPECT_EQ(api_.struct_size, sizeof(abi::Api));
  EXPECT_EQ(api_.extension_start, nullptr);
  EXPECT_EQ(api_.pjrt_api_version.major_version, 0);
  EXPECT_EQ(api_.pjrt_api_version.minor_version, 114);
  for (std::size_t at = offsetof(abi::Api, Error_Destroy); at < sizeof(api_); at += 8) {
    void* entry = nullptr;
    std::memcpy(&entry, reinterpret_cast<const std::byte*>(&api_) + at, sizeof(entry));
    EXPECT_NE(entry, nullptr) << "offset " << at;
  }
  abi::Executable_GetCompiledMemoryStats_Args compiled{};
  EXPECT_EQ(code_of(api_.Executable_GetCompiledMemoryStats(&compiled)), 12);
  int nothing = 0;
  EXPECT_EQ(code_of(api_.Buffer_UnsafePointer(&nothing)), 12);
  EXPECT_EQ(code_of(api_.TopologyDescription_GetMemorySpaceKindIds(&nothing)), 12);
}

TEST_F(PluginInterface, AChipTellsHowFullItsMemoryIs) {
  abi::Client* client = create();
  abi::Client_Devices_Args devices{};
  devices.client = client;
  ASSERT_EQ(code_of(api_.Client_Devices(&devices)), 0);
  const auto stats = [&] {
    abi::Device_MemoryStats_Args args{};
    args.device = devices.devices[0];
    EXPECT_EQ(code_of(api_.Device_MemoryStats(&args)), 0);
    EXPECT_TRUE(args.peak_bytes_in_use_is_set && args.bytes_limit_is_set);
    EXPECT_FALSE(args.num_allocs_is_set);
    return args;
  };
  const auto before = stats();
  abi::Buffer* buffer = upload_six(client);
  const auto with = stats();
  EXPECT_GT(with.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(with.peak_bytes_in_use, with.bytes_in_use);
  EXPECT_GT(with.bytes_limit, with.peak_bytes_in_use);
  EXPECT_EQ(destroy(buffer), 0);
  const auto after = stats();
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.peak_bytes_in_use, with.peak_bytes_in_use);
  EXPECT_EQ(destroy(client), 0);
}

TEST_F(PluginInterface, AnotherThreadIsRefused) {
  abi::Client* client = create();
  abi::Buffer* buffer = upload_six(client);
  const std::string said = printed_by([&] {
    std::thread([&] {
      auto args = six_floats(client);
      EXPECT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 13);
      EXPECT_EQ(destroy(buffer), 13);
      EXPECT_EQ(destroy(client), 13);
      abi::Client* own = create();
      EXPECT_EQ(destroy(own), 0) << "a thread may have its own";
    }).join();
  });
  EXPECT_THAT(said, testing::HasSubstr("belongs to the thread that created it"));
  EXPECT_EQ(destroy(buffer), 0);
  printed_by([&] {
    abi::Client_Create_Args second{};
    EXPECT_EQ(code_of(api_.Client_Create(&second)), 13) << "one client a thread";
  });
  EXPECT_EQ(destroy(client), 0);
  EXPECT_EQ(destroy(create()), 0);
}

TEST_F(PluginInterface, LayoutsThatAreNotRowMajorAreUnimplemented) {
  abi::Client* client = create();
  auto args = six_floats(client);
  const std::array<std::int64_t, 2> dense{12, 4};
  const std::array<std::int64_t, 2> columns{4, 8};
  args.byte_strides = columns.data();
  args.num_byte_strides = 2;
  EXPECT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 12);
  args.byte_strides = dense.data();
  abi::Buffer_MemoryLayout tiled{};
  tiled.type = abi::Buffer_MemoryLayout_Type_Tiled;
  args.device_layout = &tiled;
  EXPECT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 12);
  args.device_layout = nullptr;
  ASSERT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 0);
  destroy(args.done_with_host_buffer);

  abi::Buffer_ToHostBuffer_Args back{};
  back.struct_size = sizeof(back);
  back.src = args.buffer;
  EXPECT_EQ(code_of(api_.Buffer_ToHostBuffer(&back)), 0);
  EXPECT_EQ(back.dst_size, 24U);
  Floats values(6);
  back.dst = values.data();
  const std::array<std::int64_t, 2> rows_last{0, 1};
  const std::array<std::int64_t, 2> rows_first{1, 0};
  tiled.tiled.minor_to_major = rows_last.data();
  tiled.tiled.minor_to_major_size = 2;
  back.host_layout = &tiled;
  EXPECT_EQ(code_of(api_.Buffer_ToHostBuffer(&back)), 12);
  tiled.tiled.minor_to_major = rows_first.data();
  ASSERT_EQ(code_of(api_.Buffer_ToHostBuffer(&back)), 0);
  destroy(back.event);
  EXPECT_EQ(values, values_);
  back.dst_size = 23;
  printed_by([&] { EXPECT_EQ(code_of(api_.Buffer_ToHostBuffer(&back)), 13); });
  EXPECT_EQ(destroy(args.buffer), 0);
  EXPECT_EQ(destroy(client), 0);
}

TEST_F(PluginInterface, WhatABufferCannotBeIsRefused) {
  abi::Client* client = create();
  const std::string said = printed_by([&] {
    auto args = six_floats(client);
    args.type = abi::Buffer_Type_C64;
    EXPECT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 13);
    args = six_floats(client);
    const std::array<std::int64_t, 2> huge{std::int64_t{1} << 40, std::int64_t{1} << 40};
    args.dims = huge.data();
    EXPECT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 13);
    const std::array<std::int64_t, 2> negative{-1, 3};
    args.dims = negative.data();
    EXPECT_EQ(code_of(api_.Client_BufferFromHostBuffer(&args)), 13);
  });
  EXPECT_THAT(said, testing::HasSubstr("impossible dimensions"));
  EXPECT_EQ(destroy(client), 0);
}

TEST_F(PluginInterface, AReadyEventIsGivenOnceAndADeletedBufferHoldsNothing) {
  abi::Client* client = create();
  abi::Buffer* buffer = upload_six(client);
  abi::Buffer_ReadyEvent_Args ready{sizeof(ready), nullptr, buffer, nullptr};
  ASSERT_EQ(code_of(api_.Buffer_ReadyEvent(&ready)), 0);
  abi::Event_IsReady_Args is{sizeof(is), nullptr, ready.event, false};
  EXPECT_EQ(code_of(api_.Event_IsReady(&is)), 0);
  EXPECT_TRUE(is.is_ready);
  destroy(ready.event);
  printed_by([&] { EXPECT_EQ(code_of(api_.Buffer_ReadyEvent(&ready)), 13); });

  abi::Buffer_Delete_Args remove{sizeof(remove), nullptr, buffer};
  EXPECT_EQ(code_of(api_.Buffer_Delete(&remove)), 0);
  EXPECT_EQ(code_of(api_.Buffer_Delete(&remove)), 0);
  abi::Buffer_IsDeleted_Args deleted{sizeof(deleted), nullptr, buffer, false};
  EXPECT_EQ(code_of(api_.Buffer_IsDeleted(&deleted)), 0);
  EXPECT_TRUE(deleted.is_deleted);
  Floats values(6);
  abi::Buffer_ToHostBuffer_Args back{};
  back.src = buffer;
  back.dst = values.data();
  back.dst_size = 24;
  printed_by([&] { EXPECT_EQ(code_of(api_.Buffer_ToHostBuffer(&back)), 13); });
  EXPECT_EQ(destroy(buffer), 0);
  EXPECT_EQ(destroy(client), 0);
}

TEST_F(PluginInterface, AChipToChipCopyIsThere) {
  abi::Client* client = create();
  abi::Buffer* buffer = upload_six(client);
  abi::Client_Devices_Args devices{};
  devices.client = client;
  ASSERT_EQ(code_of(api_.Client_Devices(&devices)), 0);
  ASSERT_EQ(devices.num_devices, 2U);
  abi::Buffer_CopyToDevice_Args copy{sizeof(copy), nullptr, buffer, devices.devices[1], nullptr};
  ASSERT_EQ(code_of(api_.Buffer_CopyToDevice(&copy)), 0);
  abi::Buffer_Device_Args where{sizeof(where), nullptr, copy.dst_buffer, nullptr};
  ASSERT_EQ(code_of(api_.Buffer_Device(&where)), 0);
  EXPECT_EQ(where.device, devices.devices[1]);
  EXPECT_EQ(destroy(buffer), 0);
  Floats values(6);
  abi::Buffer_ToHostBuffer_Args back{};
  back.src = copy.dst_buffer;
  back.dst = values.data();
  back.dst_size = 24;
  ASSERT_EQ(code_of(api_.Buffer_ToHostBuffer(&back)), 0);
  destroy(back.event);
  EXPECT_EQ(values, values_);
  EXPECT_EQ(destroy(copy.dst_buffer), 0);
  EXPECT_EQ(destroy(client), 0);
}

TEST_F(PluginInterface, CompilesWithoutADeviceWhenTheScriptSaysSo) {
  abi::TopologyDescription_Create_Args topology{};
  ASSERT_EQ(code_of(api_.TopologyDescription_Create(&topology)), 0);
  std::string text = plus_one("block_forward");
  abi::Program code{};
  code.code = text.data();
  code.code_size = text.size();
  code.format = "mlir";
  code.format_size = 4;
  abi::Compile_Args compile{};
  compile.topology = topology.topology;
  compile.program = &code;
  ASSERT_EQ(code_of(api_.Compile(&compile)), 0);
  abi::Executable_Name_Args name{};
  name.executable = compile.executable;
  ASSERT_EQ(code_of(api_.Executable_Name(&name)), 0);
  EXPECT_EQ(std::string_view(name.executable_name, name.executable_name_size), "block_forward");
  abi::Executable_OutputDimensions_Args dims{};
  dims.executable = compile.executable;
  ASSERT_EQ(code_of(api_.Executable_OutputDimensions(&dims)), 0);
  ASSERT_EQ(dims.num_outputs, 1U);
  EXPECT_EQ(dims.dims[0], 1024);
  abi::Executable_OutputMemoryKinds_Args kinds{};
  kinds.executable = compile.executable;
  ASSERT_EQ(code_of(api_.Executable_OutputMemoryKinds(&kinds)), 0);
  EXPECT_EQ(std::string_view(kinds.memory_kinds[0], kinds.memory_kind_sizes[0]), "device");
  abi::Executable_Destroy_Args gone{sizeof(gone), nullptr, compile.executable};
  EXPECT_EQ(code_of(api_.Executable_Destroy(&gone)), 0);
  abi::TopologyDescription_Destroy_Args end{sizeof(end), nullptr, topology.topology};
  EXPECT_EQ(code_of(api_.TopologyDescription_Destroy(&end)), 0);

  const World real("");
  abi::TopologyDescription_Create_Args none{};
  EXPECT_EQ(code_of(api_.TopologyDescription_Create(&none)), 12);
}

TEST_F(PluginInterface, ShowsNothingButItsThreeFunctions) {
  void* const library = ::dlopen(SIM_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  EXPECT_NE(::dlsym(library, "tt_pjrt_shutdown"), nullptr);
  const auto version = reinterpret_cast<int (*)()>(::dlsym(library, "GetPjrtApiVersion"));
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(version(), 1);
  // What this program is made of too.
  EXPECT_EQ(::dlsym(library, "_ZN9trainward10to_stringENS_9ErrorKindE"), nullptr);
}

}  // namespace
}  // namespace trainward::n300::test
