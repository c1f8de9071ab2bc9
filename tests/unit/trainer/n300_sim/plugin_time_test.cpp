// When results are there: on a slow chip later than on another, though both are computed at once.
#include <gmock/gmock.h>

#include <future>

#include "n300_sim/plugin_harness.hpp"
#include "trainer/n300_sim/timelines.hpp"

namespace trainward::n300::test {
namespace {

namespace abi = pjrt::abi;
using graph::Builder;
using graph::Element;
using graph::Value;

constexpr std::int64_t elements = std::int64_t{1} << 16;

// Two chips and a program that both run, through the C interface.
class PluginTime : public ::testing::Test {
 protected:
  void open(const std::string& script) {
    world_.emplace(script);
    abi::NamedValue threads{};
    threads.name = "threads";
    threads.name_size = 7;
    threads.type = abi::NamedValue_Int64;
    threads.int64_value = 1;
    abi::Client_Create_Args created{};
    created.create_options = &threads;
    created.num_options = 1;
    check(api_.Client_Create(&created));
    client_ = created.client;
    abi::Client_Devices_Args devices{};
    devices.client = client_;
    check(api_.Client_Devices(&devices));
    devices_.assign(devices.devices, devices.devices + devices.num_devices);
  }
  void close() {
    abi::Client_Destroy_Args args{sizeof(args), nullptr, client_};
    check(api_.Client_Destroy(&args));
  }

  static void check(abi::Error* error) { ASSERT_EQ(error, nullptr); }

  abi::LoadedExecutable* compile(const std::string& text) {
    abi::Program code{};
    std::string copy = text;
    code.code = copy.data();
    code.code_size = copy.size();
    code.format = "mlir";
    code.format_size = 4;
    abi::Client_Compile_Args args{};
    args.client = client_;
    args.program = &code;
    check(api_.Client_Compile(&args));
    return args.executable;
  }

  abi::Buffer* upload(std::size_t device) {
    const Floats values(static_cast<std::size_t>(elements), 1);
    abi::Client_BufferFromHostBuffer_Args args{};
    args.client = client_;
    args.data = values.data();
    args.type = abi::Buffer_Type_F32;
    args.dims = &elements;
    args.num_dims = 1;
    args.device = devices_[device];
    check(api_.Client_BufferFromHostBuffer(&args));
    destroy(args.done_with_host_buffer);
    return args.buffer;
  }

  // Of one argument and one result.
  struct Started {
    std::array<abi::Buffer*, 2> results{};
    std::array<abi::Event*, 2> done{};
  };
  Started run(abi::LoadedExecutable* executable, const std::array<abi::Buffer*, 2>& arguments) {
    Started started;
    std::array<abi::Buffer* const*, 2> given{&arguments[0], &arguments[1]};
    std::array<abi::Buffer**, 2> made{started.results.data(), &started.results[1]};
    abi::LoadedExecutable_Execute_Args args{};
    args.executable = executable;
    args.argument_lists = given.data();
    args.num_devices = 2;
    args.num_args = 1;
    args.output_lists = made.data();
    args.device_complete_events = started.done.data();
    check(api_.LoadedExecutable_Execute(&args));
    return started;
  }

  bool is_ready(abi::Event* event) {
    abi::Event_IsReady_Args args{sizeof(args), nullptr, event, false};
    check(api_.Event_IsReady(&args));
    return args.is_ready;
  }
  void await(abi::Event* event) {
    abi::Event_Await_Args args{sizeof(args), nullptr, event};
    check(api_.Event_Await(&args));
  }
  void destroy(abi::Event* event) {
    abi::Event_Destroy_Args args{sizeof(args), nullptr, event};
    check(api_.Event_Destroy(&args));
  }
  void destroy(abi::Buffer* buffer) {
    abi::Buffer_Destroy_Args args{sizeof(args), nullptr, buffer};
    check(api_.Buffer_Destroy(&args));
  }
  void destroy(abi::LoadedExecutable* executable) {
    abi::LoadedExecutable_Destroy_Args args{sizeof(args), nullptr, executable};
    check(api_.LoadedExecutable_Destroy(&args));
  }
  void call(abi::Event* event, std::promise<Instant>& when) {
    abi::Event_OnReady_Args args{};
    args.event = event;
    args.user_arg = &when;
    args.callback = [](abi::Error* error, void* with) {
      EXPECT_EQ(error, nullptr);
      static_cast<std::promise<Instant>*>(with)->set_value(Instant::clock::now());
    };
    check(api_.Event_OnReady(&args));
  }

  // Some work: 2^16 numbers, one after another 20 times.
  static std::string work() {
    return program(
        "block_forward",
        [](Builder& b) -> std::vector<Value> {
          Value x = b.parameter("x", {Element::f32, {elements}});
          for (int i = 0; i < 20; ++i) x = b.tanh(b.add(x, x));
          return {x};
        },
        2);
  }

  const abi::Api& api_ = plugin_api();
  std::optional<World> world_;
  abi::Client* client_ = nullptr;
  std::vector<abi::Device*> devices_;
};

TEST_F(PluginTime, WithoutASlowChipAllIsDoneAtOnce) {
  open("");
  abi::LoadedExecutable* executable = compile(work());
  const std::array arguments{upload(0), upload(1)};
  const Started started = run(executable, arguments);
  for (std::size_t d = 0; d < 2; ++d) {
    EXPECT_TRUE(is_ready(started.done[d]));
    std::promise<Instant> when;
    call(started.done[d], when);
    EXPECT_EQ(when.get_future().wait_for(std::chrono::seconds(0)), std::future_status::ready);
    destroy(started.done[d]);
    destroy(started.results[d]);
    destroy(arguments[d]);
  }
  destroy(executable);
  close();
}

TEST_F(PluginTime, ASlowChipIsLate) {
  open(R"({"slow_chip": {"chip": "R", "factor": 20}})");
  abi::LoadedExecutable* executable = compile(work());
  const std::array arguments{upload(0), upload(1)};
  const Instant began = Instant::clock::now();
  const Started started = run(executable, arguments);
  const auto took = Instant::clock::now() - began;
  EXPECT_TRUE(is_ready(started.done[0]));
  EXPECT_FALSE(is_ready(started.done[1]));
  std::promise<Instant> first;
  std::promise<Instant> second;
  call(started.done[1], second);
  call(started.done[0], first);
  const Instant late = second.get_future().get();
  EXPECT_GT(late - began, 2 * took);
  EXPECT_LT(first.get_future().get(), late);
  EXPECT_TRUE(is_ready(started.done[1]));

  // Another that reads its results is late too, and so is what the host gets of them.
  const Started next = run(executable, started.results);
  abi::Buffer_ReadyEvent_Args ready{};
  ready.buffer = next.results[1];
  check(api_.Buffer_ReadyEvent(&ready));
  EXPECT_FALSE(is_ready(ready.event));
  Floats values(static_cast<std::size_t>(elements));
  abi::Buffer_ToHostBuffer_Args copy{};
  copy.src = next.results[1];
  copy.dst = values.data();
  copy.dst_size = values.size() * sizeof(float);
  check(api_.Buffer_ToHostBuffer(&copy));
  EXPECT_FALSE(is_ready(copy.event));
  await(copy.event);
  EXPECT_TRUE(is_ready(copy.event));
  EXPECT_TRUE(is_ready(ready.event));
  EXPECT_TRUE(is_ready(next.done[1]));
  for (abi::Event* event :
       {started.done[0], started.done[1], next.done[0], next.done[1], ready.event, copy.event}) {
    destroy(event);
  }
  for (std::size_t d = 0; d < 2; ++d) {
    destroy(next.results[d]);
    destroy(started.results[d]);
    destroy(arguments[d]);
  }
  destroy(executable);
  close();
}

TEST_F(PluginTime, TheEndOfTheClientIsTheEndOfWaiting) {
  open(R"({"slow_chip": {"chip": "R", "factor": 1000}})");
  abi::LoadedExecutable* executable = compile(work());
  const std::array arguments{upload(0), upload(1)};
  const Started started = run(executable, arguments);
  std::promise<Instant> when;
  call(started.done[1], when);
  EXPECT_FALSE(is_ready(started.done[1]));
  close();
  EXPECT_EQ(when.get_future().wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_TRUE(is_ready(started.done[1]));
  await(started.done[1]);
  for (std::size_t d = 0; d < 2; ++d) {
    destroy(started.done[d]);
    destroy(started.results[d]);
    destroy(arguments[d]);
  }
  destroy(executable);
}

}  // namespace
}  // namespace trainward::n300::test
