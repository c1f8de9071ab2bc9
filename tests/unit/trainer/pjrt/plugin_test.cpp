#include "trainer/pjrt/plugin.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"
#include "counting.hpp"
#include "temporary_folder.hpp"

namespace trainward::pjrt {
namespace {

using test::expect_clean;
using test::fresh_control;
using test::make_client;
using test::open_counting;
using test::plugin_file;
using testing::HasSubstr;

Error refusal(const std::filesystem::path& file) {
  auto plugin = Plugin::open(file);
  if (plugin) {
    ADD_FAILURE() << "was opened: " << file;
    return {};
  }
  EXPECT_EQ(plugin.error().kind, ErrorKind::usage) << plugin.error().message();
  EXPECT_FALSE(plugin.error().hint.empty()) << plugin.error().message();
  EXPECT_EQ(plugin.error().where, std::filesystem::absolute(file).string());
  return plugin.error();
}

TEST(Plugin, TellsOfItself) {
  fresh_control();
  const auto plugin = open_counting();
  EXPECT_EQ(plugin->path(), plugin_file("counting_plugin"));
  EXPECT_EQ(plugin->major(), 0);
  EXPECT_EQ(plugin->minor(), 114);
  EXPECT_TRUE(plugin->honours_donation());
  const std::map<std::string, std::string> attributes = {
      {"stablehlo_current_version", "1,12,0"}, {"vendor", "nobody"}, {"fast", "false"}};
  EXPECT_EQ(plugin->attributes(), attributes);
  const auto bytes = read_file(plugin->path(), std::size_t{1} << 30U);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(plugin->digest().value(), sha256_hex(*bytes));
}

TEST(Plugin, DigestIsOfWhatWasLoaded) {
  fresh_control();
  const TemporaryFolder folder;
  const auto file = folder.path() / "plugin.so";
  std::filesystem::copy_file(plugin_file("counting_plugin"), file);
  const auto before = read_file(file, std::size_t{1} << 30U);
  ASSERT_TRUE(before);
  const auto plugin = Plugin::open(file);
  ASSERT_TRUE(plugin) << plugin.error().message();
  ASSERT_TRUE(write_file_durably(file, "another version of it"));
  EXPECT_EQ((*plugin)->digest().value(), sha256_hex(*before));
}

TEST(Plugin, MissingFile) {
  EXPECT_THAT(refusal("/nowhere/pjrt_plugin.so").message(), HasSubstr("there is no such plugin"));
}

TEST(Plugin, Folder) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path()).message(), HasSubstr("folder"));
}

TEST(Plugin, NotALibrary) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "text.so") << "print('hello')\n";
  EXPECT_THAT(refusal(folder.path() / "text.so").message(), HasSubstr("cannot be loaded"));
}

TEST(Plugin, LibraryThatIsNoPlugin) {
  EXPECT_THAT(refusal(plugin_file("not_a_plugin")).message(), HasSubstr("lacks GetPjrtApi"));
}

TEST(Plugin, WithoutATable) {
  fresh_control().without_table = true;
  EXPECT_THAT(refusal(plugin_file("counting_plugin")).message(), HasSubstr("no table"));
  fresh_control().table_size = 24;  // too short for the version
  EXPECT_THAT(refusal(plugin_file("counting_plugin")).message(), HasSubstr("no table"));
}

TEST(Plugin, AnotherMajorVersion) {
  fresh_control().major = 1;
  EXPECT_THAT(refusal(plugin_file("counting_plugin")).message(), HasSubstr("1.114"));
}

TEST(Plugin, InitialiseMayFail) {
  auto& control = fresh_control();
  control.fail_call = "Plugin_Initialize";
  control.fail_at = 1;
  control.fail_code = 14;
  control.fail_text = "driver is busy";
  const auto plugin = Plugin::open(plugin_file("counting_plugin"));
  ASSERT_FALSE(plugin);
  EXPECT_EQ(plugin.error().kind, ErrorKind::transient);
  EXPECT_THAT(plugin.error().message(),
              HasSubstr("UNAVAILABLE in Plugin_Initialize: driver is busy"));
  expect_clean(control);
}

TEST(Plugin, AttributesAreNotNeeded) {
  auto& control = fresh_control();
  control.missing = {"Plugin_Attributes", "Plugin_Initialize"};
  EXPECT_TRUE(open_counting()->attributes().empty());
  expect_clean(control);
}

TEST(Plugin, IsShutDownAfterItsLastClient) {
  auto& control = fresh_control("counting_plugin_tt");
  {
    auto plugin = open_counting("counting_plugin_tt");
    EXPECT_FALSE(plugin->honours_donation());
    auto client = Client::create(plugin);
    ASSERT_TRUE(client);
    const graph::Type type{graph::Element::f32, {1}};
    const float one = 1;
    auto buffer = (*client)->upload(0, type, &one);
    ASSERT_TRUE(buffer);
    plugin.reset();
    client->reset();
    EXPECT_EQ(control.live.clients, 1) << "the buffer is left";
    EXPECT_EQ(control.shutdowns, 0);
  }
  EXPECT_EQ(control.shutdowns, 1);
  EXPECT_EQ(control.clients_at_shutdown, 0);
  expect_clean(control);
}

TEST(Plugin, ExplicitShutdownHappensOnce) {
  auto& control = fresh_control("counting_plugin_tt");
  {
    const auto plugin = open_counting("counting_plugin_tt");
    plugin->shutdown();
    plugin->shutdown();
    const auto client = Client::create(plugin);
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().code, ErrorCode::failed_precondition);
  }
  EXPECT_EQ(control.shutdowns, 1);
  expect_clean(control);
}

// The table of a plugin ends where it says, and what lies behind is not read (the sanitizer's
// part).
TEST(Plugin, ShortTableOfAnOldPlugin) {
  auto& control = fresh_control();
  control.minor = 40;
  control.table_size = offsetof(abi::Api, Executable_DeserializeAndLoad);
  {
    const auto client = make_client();
    EXPECT_EQ(client->plugin().minor(), 40);
    const auto executable = client->compile("copies=1");
    ASSERT_TRUE(executable) << to_error(executable.error()).message();
    const auto loaded = client->load("counted:copies=1");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::unimplemented);
    EXPECT_EQ(loaded.error().call, "Executable_DeserializeAndLoad");
  }
  expect_clean(control);
}

}  // namespace
}  // namespace trainward::pjrt
