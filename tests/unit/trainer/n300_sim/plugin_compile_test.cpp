// Compiling: what is refused, what it costs, the kernel cache, and executables as bytes.
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>

#include "n300_sim/plugin_harness.hpp"
#include "temporary_folder.hpp"

namespace trainward::n300::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// What the plugin prints when it refuses a program; "" when it takes it.
std::string refusal(const std::string& text) {
  const auto client = make_client();
  return printed_by([&] {
    const auto executable = client->compile(text);
    if (executable) return;
    EXPECT_EQ(executable.error().code, pjrt::ErrorCode::internal);
    EXPECT_EQ(executable.error().text, "Error code: 13");
  });
}

TEST(PluginCompile, RefusesWhatTheCompilerRefuses) {
  const World world("");
  EXPECT_THAT(refusal("module"), HasSubstr("error: "));
  EXPECT_THAT(refusal("ML\xefR bytecode"), HasSubstr("error: "));
  EXPECT_THAT(refusal(""), HasSubstr("error: "));
  std::string other = plus_one("block_forward");
  other.replace(other.find("stablehlo.add"), 13, "stablehlo.sin");
  EXPECT_THAT(refusal(other), HasSubstr("stablehlo.sin"));
}

TEST(PluginCompile, RefusesWhatIsNotMadeOfWholeTiles) {
  const World world("");
  const auto product = [](std::int64_t inner) {
    return program("block_forward", [&](graph::Builder& b) -> std::vector<graph::Value> {
      const graph::Value x = b.parameter("x", {graph::Element::f32, {32, inner}});
      const graph::Value y = b.parameter("y", {graph::Element::f32, {inner, 32}});
      return {b.dot(x, y, {{}, {}, {1}, {0}, graph::Precision::f32})};
    });
  };
  EXPECT_EQ(refusal(product(64)), "");
  const std::string said = refusal(product(48));
  EXPECT_THAT(said, HasSubstr("failed to legalize operation '"));
  EXPECT_THAT(said, HasSubstr("48 is not a multiple of the tile size 32"));
}

milliseconds time_of(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

TEST(PluginCompile, TakesItsTimeOnce) {
  const TemporaryFolder folder;
  const std::string text = plus_one("block_forward");  // one operation, and one to broadcast
  const std::string slow = R"({"slow_compile": {"attempt": 2, "ms_per_op": 200}})";
  const auto compile = [&] {
    const auto client = make_client();
    EXPECT_TRUE(client->compile(text));
  };
  {
    const World world(slow, 2);
    EXPECT_GE(time_of(compile), milliseconds(200));
    EXPECT_GE(time_of(compile), milliseconds(200)) << "nothing is kept without a folder";
  }
  const World world(slow, 2, folder.path());
  EXPECT_GE(time_of(compile), milliseconds(200));
  EXPECT_LT(time_of(compile), milliseconds(200)) << "the kernels are there";
  std::filesystem::remove_all(folder.path() / "tt-metal-cache");
  EXPECT_GE(time_of(compile), milliseconds(200)) << "purged";
}

std::filesystem::path only_kernel(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  EXPECT_EQ(files.size(), 1U);
  return files.at(0);
}

TEST(PluginCompile, ADamagedKernelFailsUntilTheCacheIsPurged) {
  const TemporaryFolder folder;
  const std::string text = plus_one("block_forward");
  const std::string script = R"({"corrupt_kernel_cache": {"attempt": 2}})";
  {
    const World world(script, 1, folder.path());
    EXPECT_EQ(refusal(text), "");
  }
  const std::string kernel = only_kernel(folder.path()).string();
  const std::string expected = kernel + ": cannot map elf file into memory: Invalid argument";
  {
    const World world(script, 2, folder.path());
    EXPECT_THAT(refusal(text), HasSubstr(expected));
  }
  const World world(script, 3, folder.path());
  EXPECT_THAT(refusal(text), HasSubstr(expected)) << "it stays so in later attempts";
  std::filesystem::remove_all(folder.path() / "tt-metal-cache");
  EXPECT_EQ(refusal(text), "");
  std::ofstream(only_kernel(folder.path()), std::ios::app) << "x";
  EXPECT_THAT(refusal(text), HasSubstr("cannot map elf file into memory"));
}

TEST(PluginCompile, AKernelCacheThatCannotBeWrittenIsTold) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "tt-metal-cache") << "a file";
  const World world("", 1, folder.path());
  EXPECT_THAT(refusal(plus_one("block_forward")),
              HasSubstr("Failed to generate binaries for block_forward"));
}

TEST(PluginCompile, OnlySerializesWhereTheScriptSaysSo) {
  const World world(R"({"loads_executables": false})");
  const auto client = make_client();
  const auto executable = client->compile(plus_one("block_forward"));
  ASSERT_TRUE(executable) << executable.error().text;
  const auto bytes = executable->serialize();
  ASSERT_TRUE(bytes);
  const auto loaded = client->load(*bytes);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, pjrt::ErrorCode::unimplemented);
}

TEST(PluginCompile, WhatIsLoadedRunsWithoutCompiling) {
  const TemporaryFolder folder;
  const World world(R"({"compile_ms_per_op": 20})", 0, folder.path());
  std::string bytes;
  {
    const auto client = make_client();
    bytes = client->compile(plus_one("block_forward")).value().serialize().value();
  }
  std::filesystem::remove_all(folder.path() / "tt-metal-cache");
  const auto client = make_client();
  const auto loaded = client->load(bytes);
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "tt-metal-cache")) << "nothing was built";
  const auto results = run(*loaded, upload(*client, Floats(1024, 1)));
  ASSERT_TRUE(results);
  EXPECT_EQ(download((*results)[0][0]), Floats(1024, 2));
  for (std::size_t size : {std::size_t{0}, std::size_t{50}, bytes.size() - 1}) {
    const auto damaged = client->load(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().text, HasSubstr("Failed to deserialize executable"));
  }
}

}  // namespace
}  // namespace trainward::n300::test
