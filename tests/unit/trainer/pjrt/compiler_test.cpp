#include "trainer/pjrt/compiler.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "common/os/fd.hpp"
#include "counting.hpp"
#include "temporary_folder.hpp"
#include "trainer/pjrt/compile_options.hpp"
#include "trainer/pjrt/platform_record.hpp"

namespace trainward::pjrt {
namespace {

using test::Control;
using test::expect_clean;
using test::fresh_control;
using test::make_client;
using test::open_cache;
using test::plugin_file;
using testing::HasSubstr;

const std::string two_copies = "copies=2";

// One run of a worker: what it heard about the programs it asked for.
std::vector<Compiled> get_programs(const ProgramCache* cache,
                                   const std::vector<std::string>& texts) {
  std::vector<Compiled> told;
  const auto client = make_client();
  Compiler compiler(*client, cache, [&](const Compiled& about) { told.push_back(about); });
  for (const std::string& text : texts) {
    const auto executable = compiler.get("name of " + text, text);
    EXPECT_TRUE(executable) << to_error(executable.error()).message();
    if (executable) {
      EXPECT_EQ(executable->output_count(), 2U);
    }
  }
  return told;
}

Compiled get_program(const ProgramCache* cache) {
  const auto told = get_programs(cache, {two_copies});
  return told.size() == 1 ? told.front() : Compiled{};
}

TEST(Compiler, CompilesOnceForManyRuns) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const Compiled first = get_program(&cache);
  EXPECT_FALSE(first.hit);
  EXPECT_EQ(first.name, "name of " + two_copies);
  EXPECT_EQ(first.key.size(), 64U);
  EXPECT_EQ(first.dropped, "");
  EXPECT_EQ(first.problem, "");
  const Compiled second = get_program(&cache);
  EXPECT_TRUE(second.hit);
  EXPECT_EQ(second.key, first.key);
  EXPECT_EQ(second.dropped, "");
  EXPECT_EQ(control.calls["Client_Compile"], 1);
  expect_clean(control);
}

TEST(Compiler, WithoutACacheCompilesEveryTime) {
  auto& control = fresh_control();
  for (int i = 0; i < 2; ++i) {
    const Compiled compiled = get_program(nullptr);
    EXPECT_FALSE(compiled.hit);
    EXPECT_EQ(compiled.key.size(), 64U);
    EXPECT_EQ(compiled.problem, "");
  }
  EXPECT_EQ(control.calls["Client_Compile"], 2);
  EXPECT_EQ(control.calls["Executable_Serialize"], 0);
  expect_clean(control);
}

TEST(Compiler, WhetherThePluginLoadsIsTriedOnce) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  get_programs(&cache, {two_copies, two_copies + " other=1", two_copies + " other=2"});
  EXPECT_EQ(control.calls["Executable_DeserializeAndLoad"], 1);
  EXPECT_EQ(control.calls["Executable_Serialize"], 3);
  ASSERT_EQ(cache.plugins().value().size(), 1U);
  EXPECT_TRUE(cache.plugins()->front().loads);
  EXPECT_EQ(cache.plugins()->front().about, "counting 1.2.3, counting_plugin.so");
  expect_clean(control);
}

// Tenstorrent's plugin: serializes, and cannot load.
TEST(Compiler, APluginThatCannotLoadIsRemembered) {
  auto& control = fresh_control();
  control.loads = false;
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  for (int run = 0; run < 2; ++run) {
    for (const auto& compiled : get_programs(&cache, {two_copies, two_copies + " other=1"})) {
      EXPECT_FALSE(compiled.hit);
      EXPECT_EQ(compiled.dropped, "");
      EXPECT_EQ(compiled.problem, "");
    }
  }
  EXPECT_EQ(control.calls["Client_Compile"], 4);
  EXPECT_EQ(control.calls["Executable_Serialize"], 1);
  EXPECT_EQ(control.calls["Executable_DeserializeAndLoad"], 1);
  ASSERT_EQ(cache.plugins().value().size(), 1U);
  EXPECT_FALSE(cache.plugins()->front().loads);
  expect_clean(control);

  // Another version of the platform may be able to.
  control.version = "1.2.4";
  control.loads = true;
  get_program(&cache);
  EXPECT_EQ(cache.plugins()->size(), 2U);
  EXPECT_TRUE(get_program(&cache).hit);
}

TEST(Compiler, APluginThatCannotSerializeIsRemembered) {
  auto& control = fresh_control();
  control.serializes = false;
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  for (int run = 0; run < 2; ++run) EXPECT_EQ(get_program(&cache).problem, "");
  EXPECT_EQ(control.calls["Executable_Serialize"], 1);

  fresh_control().missing = {"Executable_Serialize"};
  const TemporaryFolder other;
  const ProgramCache second = open_cache(other.path());
  EXPECT_FALSE(get_program(&second).hit);
  EXPECT_FALSE(second.plugins()->front().loads);
}

TEST(Compiler, ARefusedProgramIsDroppedAndCompiledAnew) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  get_program(&cache);
  control.refuses_load = true;
  const Compiled refused = get_program(&cache);
  EXPECT_FALSE(refused.hit);
  EXPECT_THAT(refused.dropped, HasSubstr("made by another version"));
  control.refuses_load = false;
  EXPECT_TRUE(get_program(&cache).hit) << "the new one was kept";
  EXPECT_EQ(control.calls["Client_Compile"], 2);
  expect_clean(control);
}

TEST(Compiler, ACorruptEntryIsDroppedAndCompiledAnew) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const Compiled first = get_program(&cache);
  const auto file = folder.path() / (first.key + ".program");
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-70, std::ios::end);  // the last bytes of the program
    bytes.put('?');
  }
  const Compiled second = get_program(&cache);
  EXPECT_FALSE(second.hit);
  EXPECT_NE(second.dropped, "");
  EXPECT_TRUE(get_program(&cache).hit);
  expect_clean(control);
}

// The first program a plugin compiles is loaded for trial; one that fails then is of no use.
TEST(Compiler, WhatCannotBeLoadedIsNotKept) {
  auto& control = fresh_control();
  control.refuses_load = true;
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const Compiled compiled = get_program(&cache);
  EXPECT_THAT(compiled.problem, HasSubstr("made by another version"));
  EXPECT_FALSE(cache.find(compiled.key)->has_value());
  EXPECT_TRUE(cache.plugins()->empty()) << "it may yet load others";
  expect_clean(control);
}

TEST(Compiler, AFailedCompileIsTheCallersAndTheLockIsFree) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const auto client = make_client();
  int told = 0;
  Compiler compiler(*client, &cache, [&](const Compiled&) { ++told; });
  control.fail_call = "Client_Compile";
  control.fail_at = 1;
  const auto failed = compiler.get("block", two_copies);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::internal);
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(compiler.get("block", two_copies));
  EXPECT_EQ(told, 1);
}

TEST(Compiler, ShowsThatItLivesWhileAnotherCompiles) {
  fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  const std::string key = get_program(&cache).key;
  std::optional<ProgramLock> others = cache.lock(key).value();
  const auto client = make_client();
  int signs = 0;
  Compiler compiler(
      *client, &cache, [](const Compiled& compiled) { EXPECT_TRUE(compiled.hit); },
      [&] {
        ++signs;
        others.reset();
      });
  EXPECT_TRUE(compiler.get("block", two_copies));
  EXPECT_EQ(signs, 1);
}

TEST(Compiler, AFolderThatCannotBeWrittenMeansCompiling) {
  auto& control = fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path() / "gone");
  std::filesystem::remove_all(folder.path() / "gone");
  std::ofstream(folder.path() / "gone") << "a file in the folder's place";
  const Compiled compiled = get_program(&cache);
  EXPECT_FALSE(compiled.hit);
  EXPECT_NE(compiled.problem, "");
  EXPECT_EQ(control.calls["Client_Compile"], 1);
  expect_clean(control);
}

TEST(Compiler, TheKeyIsOfEverythingThatMatters) {
  const Platform platform{"tt", "0.9", "wormhole", 2};
  const PluginIdentity plugin{0, 114, "abc"};
  const std::string options = compile_options(1);
  std::set<std::string> keys = {program_key("text", options, platform, plugin)};
  std::size_t count = 1;
  const auto differs = [&](const std::string& text, const std::string& compile, const Platform& on,
                           const PluginIdentity& with) {
    EXPECT_TRUE(keys.insert(program_key(text, compile, on, with)).second) << count;
    ++count;
  };
  differs("text2", options, platform, plugin);
  differs("text", compile_options(2), platform, plugin);
  differs("text", options, {"uu", "0.9", "wormhole", 2}, plugin);
  differs("text", options, {"tt", "0.8", "wormhole", 2}, plugin);
  differs("text", options, {"tt", "0.9", "blackhole", 2}, plugin);
  differs("text", options, {"tt", "0.9", "wormhole", 1}, plugin);
  differs("text", options, {"tt0.", "9", "wormhole", 2}, plugin);
  differs("text", options, platform, {1, 114, "abc"});
  differs("text", options, platform, {0, 113, "abc"});
  differs("text", options, platform, {0, 114, "abd"});
  EXPECT_EQ(program_key("text", options, platform, plugin).size(), 64U);
}

TEST(Compiler, RemembersThePlatformForLater) {
  fresh_control();
  const TemporaryFolder folder;
  const ProgramCache cache = open_cache(folder.path());
  get_program(&cache);
  const auto digest = test::open_counting()->digest().value();
  const Platform seen{"counting", "1.2.3", "abacus", 2};
  EXPECT_EQ(remembered_platform(cache, digest), seen);
  EXPECT_EQ(remembered_platform(cache, "another plugin"), std::nullopt);
  const Platform later{"counting", "1.3", "abacus", 1};
  ASSERT_TRUE(remember_platform(cache, digest, later));
  EXPECT_EQ(remembered_platform(cache, digest), later);
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  Fd read;
  Fd write;
};

void put_byte(const Fd& fd) {
  if (::write(fd.get(), "x", 1) != 1) std::abort();
}

// Waits for one; false at the end.
bool get_byte(const Fd& fd) {
  char byte = 0;
  return ::read(fd.get(), &byte, 1) == 1;
}

// Two processes ask for the same program; the one that compiles goes on only when both have.
TEST(Compiler, OneProcessCompilesForTwo) {
  Control& control = fresh_control();
  const TemporaryFolder folder;
  Pipe ready;
  Pipe go;
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      go.write.reset();
      control.while_compiling = [&] { (void)get_byte(go.read); };
      const ProgramCache cache = open_cache(folder.path());
      put_byte(ready.write);
      const Compiled got = get_program(&cache);
      const int compiles = control.calls["Client_Compile"];
      ::_exit(got.key.empty() || got.hit == (compiles > 0) ? 100 : compiles);
    }
    children.push_back(child);
  }
  EXPECT_TRUE(get_byte(ready.read) && get_byte(ready.read));
  put_byte(go.write);
  go.write.reset();
  int compiles = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    compiles += WEXITSTATUS(status);
  }
  EXPECT_EQ(compiles, 1);
}

}  // namespace
}  // namespace trainward::pjrt
