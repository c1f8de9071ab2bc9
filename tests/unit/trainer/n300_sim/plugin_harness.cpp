#include "n300_sim/plugin_harness.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "trainer/stablehlo/text/print.hpp"

namespace trainward::n300::test {
namespace {

void set(const char* variable, const std::string& value) {
  if (value.empty()) {
    ::unsetenv(variable);
  } else {
    ::setenv(variable, value.c_str(), 1);
  }
}

void set_all(const std::string& script, std::int64_t attempt, const std::string& kernels,
             const std::string& timeout_s) {
  set("TRAINWARD_SIMULATE", script);
  set("TRAINWARD_ATTEMPT", attempt > 0 ? std::to_string(attempt) : "");
  set("TT_METAL_CACHE", kernels);
  set("TT_METAL_OPERATION_TIMEOUT_SECONDS", timeout_s);
}

}  // namespace

World::World(const std::string& script, std::int64_t attempt, const std::string& kernels,
             const std::string& timeout_s) {
  set_all(script, attempt, kernels, timeout_s);
}
World::~World() { set_all({}, 0, {}, {}); }

std::unique_ptr<pjrt::Client> make_client(std::int64_t threads) {
  auto plugin = pjrt::Plugin::open(SIM_PLUGIN);
  EXPECT_TRUE(plugin) << plugin.error().message();
  const std::vector<pjrt::ClientOption> options = {{"threads", threads}};
  auto client = pjrt::Client::create(*plugin, options);
  EXPECT_TRUE(client) << pjrt::to_error(client.error()).message();
  return client ? *std::move(client) : nullptr;
}

const pjrt::abi::Api& plugin_api() {
  void* const library = ::dlopen(SIM_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << ::dlerror();
  const auto get = reinterpret_cast<pjrt::abi::GetApi>(::dlsym(library, "GetPjrtApi"));
  EXPECT_NE(get, nullptr);
  return *get();
}

std::string program(const std::string& name,
                    const std::function<std::vector<graph::Value>(graph::Builder&)>& make,
                    std::int64_t replicas) {
  graph::Builder builder;
  const std::vector<graph::Value> outputs = make(builder);
  auto graph = builder.finish(outputs);
  EXPECT_TRUE(graph) << graph.error().message();
  auto text = stablehlo::print({name, replicas, *std::move(graph), {}});
  EXPECT_TRUE(text) << text.error().message();
  return *text;
}

std::string plus_one(const std::string& name, std::int64_t elements) {
  return program(name, [&](graph::Builder& b) -> std::vector<graph::Value> {
    const graph::Value x = b.parameter("x", {graph::Element::f32, {elements}});
    return {b.add(x, b.constant_like(1, x))};
  });
}

pjrt::Buffer upload(pjrt::Client& client, const Floats& values, std::size_t device) {
  const graph::Type type{graph::Element::f32, {static_cast<std::int64_t>(values.size())}};
  auto buffer = client.upload(device, type, values.data());
  EXPECT_TRUE(buffer) << pjrt::to_error(buffer.error()).message();
  return *std::move(buffer);
}

Floats download(const pjrt::Buffer& buffer) {
  const auto type = buffer.type();
  EXPECT_TRUE(type);
  Floats values(static_cast<std::size_t>(graph::element_count(type->shape)));
  const auto done = buffer.download(std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(done) << pjrt::to_error(done.error()).message();
  return values;
}

pjrt::Outcome<std::vector<std::vector<pjrt::Buffer>>> run(const pjrt::Executable& executable,
                                                          const pjrt::Buffer& argument) {
  const std::vector<std::vector<const pjrt::Buffer*>> arguments = {{&argument}};
  return executable.run(arguments);
}

std::string printed_by(const std::function<void()>& act) {
  testing::internal::CaptureStderr();
  act();
  return testing::internal::GetCapturedStderr();
}

}  // namespace trainward::n300::test
