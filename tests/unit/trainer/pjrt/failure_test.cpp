// A whole life of a client, with every single call failing once: nothing is left behind, and what
// was said is handed on.
#include <gmock/gmock.h>

#include "counting.hpp"

namespace trainward::pjrt {
namespace {

using test::Control;
using test::expect_clean;
using test::fresh_control;
using test::plugin_file;

Outcome<void> use(Client& client) {
  const graph::Type type{graph::Element::f32, {2, 2}};
  const float values[4] = {1, 2, 3, 4};
  auto compiled = client.compile("copies=2 donates=1", 2);
  if (!compiled) return propagate(compiled);
  auto bytes = compiled->serialize();
  if (!bytes) return propagate(bytes);
  auto loaded = client.load(*bytes, 2);
  if (!loaded) return propagate(loaded);

  std::vector<Buffer> uploaded;
  for (std::size_t i = 0; i < 4; ++i) {
    auto buffer = client.upload(i / 2, type, values);
    if (!buffer) return propagate(buffer);
    uploaded.push_back(std::move(*buffer));
  }
  const std::vector<std::vector<const Buffer*>> arguments = {{&uploaded[0], &uploaded[1]},
                                                             {&uploaded[2], &uploaded[3]}};
  auto results = loaded->run(arguments);
  if (!results) return propagate(results);
  for (const auto& row : *results) {
    for (const auto& buffer : row) {
      if (auto waited = buffer.wait(); !waited) return waited;
      float back[4];
      if (auto read = buffer.download(std::as_writable_bytes(std::span(back))); !read) return read;
    }
  }
  return {};
}

// The error of the first call that failed, if any was noticed.
std::optional<std::string> live_once() {
  const auto plugin = Plugin::open(plugin_file("counting_plugin"));
  if (!plugin) return plugin.error().what;
  auto client = Client::create(*plugin);
  if (!client) return to_error(client.error()).what;
  const auto used = use(**client);
  if (!used) return to_error(used.error()).what;
  return std::nullopt;
}

// Failures of these are nobody's business: something goes away, or is told to people only.
bool may_go_unnoticed(const std::string& call) {
  return call.ends_with("_Destroy") || call == "Plugin_Attributes";
}

void fail_each(std::size_t newer_by, int minor) {
  const auto fresh = [&]() -> Control& {
    Control& control = fresh_control();
    control.newer_by = newer_by;
    control.minor = minor;
    return control;
  };
  Control& whole = fresh();
  ASSERT_EQ(live_once(), std::nullopt);
  expect_clean(whole);
  const int calls = whole.all_calls;
  ASSERT_GT(calls, 30);

  for (int n = 1; n <= calls; ++n) {
    Control& control = fresh();
    control.fail_at = n;
    control.fail_code = 10;
    control.fail_text = "number " + std::to_string(n);
    const auto error = live_once();
    ASSERT_EQ(control.fail_at, 0) << "call " << n << " was not reached";
    expect_clean(control);
    if (error) {
      EXPECT_THAT(*error, testing::StartsWith("ABORTED in "));
      EXPECT_THAT(*error, testing::EndsWith(": " + control.fail_text));
    }
  }
}

TEST(Failure, OfEveryCall) { fail_each(0, 114); }

// A newer plugin's structs are larger, and it finds zeros there.
TEST(Failure, OfEveryCallOfANewerPlugin) { fail_each(64, 130); }

TEST(Failure, OfANamedCallIsNoticed) {
  Control& whole = fresh_control();
  ASSERT_EQ(live_once(), std::nullopt);
  const auto calls = whole.calls;
  for (const auto& [name, count] : calls) {
    for (int n = 1; n <= count; ++n) {
      Control& control = fresh_control();
      control.fail_call = name;
      control.fail_at = n;
      const auto error = live_once();
      EXPECT_EQ(error.has_value(), !may_go_unnoticed(name)) << name << " number " << n;
      expect_clean(control);
    }
  }
}

TEST(Failure, OfAnAbsentCallNamesIt) {
  Control& whole = fresh_control();
  ASSERT_EQ(live_once(), std::nullopt);
  const auto calls = whole.calls;
  for (const auto& [name, count] : calls) {
    // Without these something must stay behind, or nothing is missed.
    if (may_go_unnoticed(name) || name == "Plugin_Initialize" || name == "Client_PlatformVersion" ||
        name == "DeviceDescription_Kind") {
      continue;
    }
    Control& control = fresh_control();
    control.missing = {name};
    const auto error = live_once();
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(*error, "UNIMPLEMENTED in " + name + ": the plugin does not have this call");
    expect_clean(control);
  }
}

}  // namespace
}  // namespace trainward::pjrt
