#include "trainer/pjrt/ahead_of_time.hpp"

#include <gmock/gmock.h>

#include "counting.hpp"
#include "temporary_folder.hpp"
#include "trainer/pjrt/compile_options.hpp"
#include "trainer/pjrt/platform_record.hpp"

namespace trainward::pjrt {
namespace {

using test::expect_clean;
using test::fresh_control;
using test::make_client;
using test::open_cache;
using test::open_counting;
using testing::HasSubstr;

const std::string one_copy = "copies=1";

std::unique_ptr<Topology> make_topology() {
  auto topology = Topology::create(open_counting(), "2x1");
  if (!topology) throw std::runtime_error(to_error(topology.error()).message());
  return std::move(*topology);
}

Compiled ask_as_client(const ProgramCache& cache, std::int64_t replicas = 1) {
  Compiled told;
  const auto client = make_client();
  Compiler compiler(*client, &cache, [&](const Compiled& about) { told = about; });
  EXPECT_TRUE(compiler.get("block", one_copy, replicas));
  return told;
}

TEST(AheadOfTime, AClientFindsWhatWasCompiledWithoutOne) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const auto ahead = compile_without_device(*make_topology(), cache, "block", one_copy, 2);
  ASSERT_TRUE(ahead) << ahead.error().message();
  EXPECT_FALSE(ahead->hit);
  EXPECT_EQ(control.compile_options, compile_options(2));
  EXPECT_EQ(control.calls["Client_Create"], 0);
  const Compiled asked = ask_as_client(cache, 2);
  EXPECT_TRUE(asked.hit);
  EXPECT_EQ(asked.key, ahead->key);
  EXPECT_EQ(control.calls["Client_Compile"], 0);

  const auto again = compile_without_device(*make_topology(), cache, "block", one_copy, 2);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->hit);
  EXPECT_EQ(control.calls["Compile"], 1);
  expect_clean(control);
}

// A client's words for its devices are those that count, once there has been one.
TEST(AheadOfTime, TakesThePlatformOfTheLastClient) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  control.devices = 4;
  control.version = "1.2.3 on driver 7";
  {
    const auto client = make_client();
    Compiler(*client, &cache, {});
  }
  control.version = "1.2.3";
  const auto ahead = compile_without_device(*make_topology(), cache, "block", one_copy, 4);
  ASSERT_TRUE(ahead) << ahead.error().message();
  control.version = "1.2.3 on driver 7";
  EXPECT_TRUE(ask_as_client(cache, 4).hit);
  expect_clean(control);
}

TEST(AheadOfTime, RefusesWhatNoClientCouldUse) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const auto many = compile_without_device(*make_topology(), cache, "block", one_copy, 3);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind, ErrorKind::usage);

  control.loads = false;
  ask_as_client(cache);
  const auto useless = compile_without_device(*make_topology(), cache, "block", one_copy);
  ASSERT_FALSE(useless);
  EXPECT_THAT(useless.error().message(), HasSubstr("cannot load"));
  EXPECT_EQ(control.calls["Compile"], 0);

  const auto digest = open_counting()->digest().value();
  for (const Platform& last :
       {Platform{"another", "1.2.3", "abacus", 2}, Platform{"counting", "1.2.3", "another", 2}}) {
    ASSERT_TRUE(remember_platform(cache, digest, last));
    const auto foreign = compile_without_device(*make_topology(), cache, "block", one_copy);
    ASSERT_FALSE(foreign);
    EXPECT_THAT(foreign.error().message(), HasSubstr("another"));
  }
  expect_clean(control);
}

TEST(AheadOfTime, PluginsThatDoNotHaveIt) {
  auto& control = fresh_control();
  control.missing = {"TopologyDescription_Create"};
  const auto topology = Topology::create(open_counting(), "2x1");
  ASSERT_FALSE(topology);
  EXPECT_EQ(topology.error().code, ErrorCode::unimplemented);

  fresh_control().missing = {"TopologyDescription_GetDeviceDescriptions"};
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const auto unknown = compile_without_device(*make_topology(), cache, "block", one_copy);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().hint, HasSubstr("run once with the device"));
  ask_as_client(cache);
  EXPECT_TRUE(compile_without_device(*make_topology(), cache, "another", one_copy));
  expect_clean(control);
}

TEST(AheadOfTime, AnUnknownTopology) {
  auto& control = fresh_control();
  const auto topology = Topology::create(open_counting(), "unknown");
  ASSERT_FALSE(topology);
  EXPECT_EQ(topology.error().code, ErrorCode::not_found);
  EXPECT_EQ(topology.error().text, "no such topology");
  expect_clean(control);
}

// Every call fails once; what is made up to there goes.
TEST(AheadOfTime, NothingLeaksWhenACallFails) {
  const auto live_once = [](const ProgramCache& cache) {
    const auto plugin = Plugin::open(test::plugin_file("counting_plugin"));
    if (!plugin) return;
    const auto topology = Topology::create(*plugin, "2x1");
    if (topology) (void)compile_without_device(**topology, cache, "block", one_copy);
  };
  auto& whole = fresh_control();
  {
    const TemporaryFolder folder;
    live_once(open_cache(folder.path()));
  }
  const int calls = whole.all_calls;
  EXPECT_GT(calls, 8);
  for (int n = 1; n <= calls; ++n) {
    auto& control = fresh_control();
    control.fail_at = n;
    const TemporaryFolder folder;
    live_once(open_cache(folder.path()));
    expect_clean(control);
  }
}

}  // namespace
}  // namespace trainward::pjrt
