// A process that is killed at any moment leaves whole programs, or files that the next one sweeps.
//
//   TRAINWARD_TORTURE_ROUNDS   default 300
//   TRAINWARD_TORTURE_SEED     printed; the same seed gives the same work (not the same instants)
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <random>

#include "common/os/file.hpp"
#include "common/program_cache/program_cache.hpp"
#include "support.hpp"

namespace trainward::program_cache {
namespace {

using ::testing::EndsWith;
using testing::in_child;
using testing::info;
using testing::key;
using testing::names_in;
using testing::program;

constexpr const char* folder_variable = "PROGRAMS_TEST_FOLDER";

void expect_only_whole_programs(const std::filesystem::path& folder,
                                const std::map<int, std::size_t>& sizes) {
  const ProgramCache cache = testing::open(folder);
  for (const std::string& name : names_in(folder)) EXPECT_THAT(name, EndsWith(".program"));
  for (const auto& [number, size] : sizes) {
    std::string dropped;
    auto found = cache.find(key(number), &dropped);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(dropped, "");
    EXPECT_TRUE(!*found || **found == program(number, size));
  }
}

// Not a test: what the one below runs in a process of its own, which dies where TRAINWARD_FAULT
// says.
TEST(ProgramKilledChild, DISABLED_PutsAndDrops) {
  const char* folder = std::getenv(folder_variable);
  if (folder == nullptr) GTEST_SKIP() << "has no folder";
  const ProgramCache cache = testing::open(folder, 25'000);
  auto held = cache.lock(key(3));
  ASSERT_TRUE(cache.put(key(3), program(3, 10'000), info));  // makes room, writes
  ASSERT_TRUE(cache.drop(key(3)));
}

int run_child(const std::filesystem::path& folder, const std::string& fault) {
  return in_child([&] {
    ::setenv(folder_variable, folder.c_str(), 1);
    ::setenv("TRAINWARD_FAULT", fault.c_str(), 1);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDOUT_FILENO);
    ::execl("/proc/self/exe", "programs_test", "--gtest_also_run_disabled_tests",
            "--gtest_filter=ProgramKilledChild.*", nullptr);
    return 127;
  });
}

TEST(ProgramKilled, AtEveryNamedPlace) {
  for (const std::string place : {"made", "writing", "written", "synced", "renamed", "dropping"}) {
    int passages = 0;
    for (;; ++passages) {
      const TemporaryFolder folder;
      const ProgramCache cache = testing::open(folder.path());
      ASSERT_TRUE(cache.put(key(1), program(1, 10'000), info));
      ASSERT_TRUE(cache.put(key(2), program(2, 10'000), info));
      testing::age(folder.path(), key(1), std::chrono::hours(1));
      const int ended =
          run_child(folder.path(), "program_cache." + place + ":" + std::to_string(passages + 1));
      expect_only_whole_programs(folder.path(), {{1, 10'000}, {2, 10'000}, {3, 10'000}});
      EXPECT_TRUE(*cache.find(key(2))) << place;
      EXPECT_TRUE(*cache.try_lock(key(3))) << place;
      if (ended == 0) break;
      ASSERT_EQ(ended, -SIGKILL) << place;
    }
    EXPECT_GE(passages, 1) << place;
  }
}

// What somebody writes or holds right now is not swept by another who opens the cache.
TEST(ProgramKilled, TheLivingAreNotSwept) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  auto held = cache.lock(key(1));
  ASSERT_TRUE(held);
  std::ofstream(folder.path() / (key(2) + ".program.tmp.1-0")) << "left by a process that is gone";
  std::ofstream(folder.path() / (key(2) + ".lock")) << "";
  (void)testing::open(folder.path());
  EXPECT_THAT(names_in(folder.path()), ::testing::ElementsAre(key(1) + ".lock"));
  EXPECT_FALSE(*cache.try_lock(key(1)));
}

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

// The kernel kills this process after the given time, wherever it is then.
void kill_me_after(std::int64_t microseconds) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  itimerspec when{};
  when.it_value.tv_nsec = microseconds * 1000;
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      ::timer_settime(timer, 0, &when, nullptr) != 0) {
    ::_exit(10);
  }
}

constexpr int keys = 8;

std::size_t size_of(int number) { return static_cast<std::size_t>(number) * 7001; }

// Finds or makes programs, drops and prunes some, until it is killed.
[[noreturn]] void use_until_killed(const std::filesystem::path& folder, std::uint64_t seed,
                                   std::int64_t microseconds) {
  std::mt19937_64 random(seed);
  kill_me_after(microseconds);
  for (;;) {
    auto cache = ProgramCache::open(folder, 120'000);
    if (!cache) ::_exit(11);
    const int number = static_cast<int>(random() % keys);
    auto held = cache->lock(key(number));
    if (!held) ::_exit(12);
    std::string dropped;
    auto found = cache->find(key(number), &dropped);
    if (!found || !dropped.empty()) ::_exit(13);
    if (*found && **found != program(number, size_of(number))) ::_exit(14);
    // Full of what the others hold: no error of ours.
    if (!*found) (void)cache->put(key(number), program(number, size_of(number)), info);
    if (random() % 5 == 0 && !cache->drop(key(number))) ::_exit(15);
    if (random() % 7 == 0) (void)cache->prune(random() % 120'000);
    (void)cache->remember_loads(key(keys), random() % 2 == 0);
  }
}

TEST(ProgramKilled, AtRandomInstantsWithOthersAtWork) {
  const std::uint64_t rounds = number_from("TRAINWARD_TORTURE_ROUNDS", 300);
  const std::uint64_t seed = number_from("TRAINWARD_TORTURE_SEED", std::random_device{}());
  std::printf("seed %llu, %llu rounds\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(rounds));
  std::mt19937_64 random(seed);
  const TemporaryFolder folder;
  std::map<int, std::size_t> sizes;
  for (int i = 0; i < keys; ++i) sizes[i] = size_of(i);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << " of seed " << seed);
    std::vector<pid_t> children;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t child_seed = random();
      const auto delay = static_cast<std::int64_t>(1 + random() % 15'000);
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) use_until_killed(folder.path(), child_seed, delay);
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    }
    const std::vector<ProgramEntry> verified = *testing::open(folder.path()).verify();
    for (const ProgramEntry& entry : verified) ASSERT_EQ(entry.problem, "");
  }
  std::filesystem::remove(folder.path() / (key(keys) + ".plugin"));
  expect_only_whole_programs(folder.path(), sizes);
}

}  // namespace
}  // namespace trainward::program_cache
