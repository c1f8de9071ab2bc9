#include "common/program_cache/program_cache.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "support.hpp"

namespace trainward::program_cache {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::in_child;
using testing::info;
using ::testing::IsEmpty;
using testing::key;
using testing::names_in;
using testing::program;

TEST(ProgramCache, GivesBackWhatItWasGiven) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path() / "deep" / "programs");
  const std::size_t sizes[] = {0, 1, 4096, (1U << 20U) - 1, (1U << 20U) + 1, 3'000'000};
  int number = 0;
  for (const std::size_t size : sizes) {
    const std::string bytes = program(++number, size);
    ASSERT_TRUE(cache.put(key(number), bytes, info));
    auto found = testing::open(cache.folder()).find(key(number));
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_TRUE(*found);
    EXPECT_TRUE(**found == bytes) << size;
  }
  EXPECT_EQ(names_in(cache.folder()).size(), std::size(sizes)) << "nothing but programs is left";
}

TEST(ProgramCache, KnowsWhatItDoesNotHave) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  std::string dropped;
  auto found = cache.find(key(1), &dropped);
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  EXPECT_EQ(dropped, "");
  EXPECT_TRUE(cache.drop(key(1)));
}

TEST(ProgramCache, APutReplaces) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  ASSERT_TRUE(cache.put(key(1), "old", info));
  ASSERT_TRUE(cache.put(key(1), "new", info));
  EXPECT_EQ(**cache.find(key(1)), "new");
  ASSERT_TRUE(cache.drop(key(1)));
  EXPECT_FALSE(*cache.find(key(1)));
}

TEST(ProgramCache, AKeyIsNeverAPath) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path() / "programs");
  std::string upper = key(1);
  upper[0] = 'A';
  for (const std::string& bad :
       {std::string(), std::string("../../etc/passwd"), key(1).substr(1), key(1) + "0", upper,
        "../" + key(1).substr(3), std::string(64, '.'), std::string(63, '0') + '\0'}) {
    auto put = cache.put(bad, "bytes", info);
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().kind, ErrorKind::usage);
    EXPECT_FALSE(cache.find(bad));
    EXPECT_FALSE(cache.drop(bad));
    EXPECT_FALSE(cache.lock(bad));
    EXPECT_FALSE(cache.try_lock(bad));
    EXPECT_FALSE(cache.remember_loads(bad, true));
    EXPECT_FALSE(cache.loads(bad));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("programs"));
  EXPECT_THAT(names_in(folder.path() / "programs"), IsEmpty());
}

TEST(ProgramCache, AHitCountsAsUse) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  ASSERT_TRUE(cache.put(key(1), "one", info));
  testing::age(folder.path(), key(1), std::chrono::hours(5));
  const std::int64_t used = cache.list()->front().used_ms;
  EXPECT_LT(used, now().wall.ms - 4 * 3'600'000);
  EXPECT_EQ(cache.verify()->front().used_ms, used) << "looking is no use";
  ASSERT_TRUE(*cache.find(key(1)));
  EXPECT_GT(cache.list()->front().used_ms, used);
}

TEST(ProgramCache, ListsWithTheNewestFirst) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(cache.put(key(i), program(i, 100), {"p" + std::to_string(i), "tt", "so"}));
  }
  testing::age(folder.path(), key(1), std::chrono::hours(1));
  testing::age(folder.path(), key(2), std::chrono::hours(3));
  testing::age(folder.path(), key(3), std::chrono::hours(2));
  auto listed = cache.list();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 3U);
  EXPECT_EQ((*listed)[0].info.name, "p1");
  EXPECT_EQ((*listed)[1].info.name, "p3");
  EXPECT_EQ((*listed)[2].key, key(2));
  EXPECT_EQ((*listed)[0].info, (ProgramInfo{"p1", "tt", "so"}));
  EXPECT_GT((*listed)[0].bytes, 100U);
  EXPECT_GT((*listed)[0].made_ms, 0);
  EXPECT_EQ((*listed)[0].problem, "");
}

TEST(ProgramCache, WhatPeopleAreShownMayBeAnything) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  const std::string odd = std::string("\xff\xc3", 2) + std::string(5000, '\1') + "\"\\\n";
  ASSERT_TRUE(cache.put(key(1), "bytes", {odd, odd, odd}));
  EXPECT_EQ(**cache.find(key(1)), "bytes");
  ASSERT_TRUE(cache.remember_loads(key(2), true, odd));
  EXPECT_EQ(cache.loads(key(2)), true);
}

TEST(ProgramCache, RemembersWhatAPluginCanLoad) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  EXPECT_EQ(cache.loads(key(1)), std::nullopt);
  ASSERT_TRUE(cache.remember_loads(key(1), false, "tt 0.9"));
  EXPECT_EQ(testing::open(folder.path()).loads(key(1)), false);
  ASSERT_TRUE(cache.remember_loads(key(1), true, "tt 1.0"));
  ASSERT_TRUE(cache.remember_loads(key(2), false, "cuda"));
  EXPECT_EQ(cache.loads(key(1)), true);
  EXPECT_EQ(cache.loads(key(2)), false);
  auto facts = cache.plugins();
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->size(), 2U);
  std::ofstream(folder.path() / (key(1) + ".plugin")) << "{\"loads\": ";
  EXPECT_EQ(cache.loads(key(1)), std::nullopt) << "damaged: to be found out again";
  EXPECT_EQ(cache.plugins()->size(), 1U);
}

TEST(ProgramCache, OneHoldsTheLock) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  auto held = cache.lock(key(1));
  ASSERT_TRUE(held);
  auto second = cache.try_lock(key(1));
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
  EXPECT_TRUE(*cache.try_lock(key(2))) << "another key is another lock";
  EXPECT_EQ(in_child([&] {
              auto there = testing::open(folder.path()).try_lock(key(1));
              return there && !*there ? 0 : 1;
            }),
            0);
  {
    const ProgramLock moved = std::move(*held);
    EXPECT_FALSE(*cache.try_lock(key(1)));
  }
  EXPECT_TRUE(*cache.try_lock(key(1)));
  EXPECT_THAT(names_in(folder.path()), IsEmpty()) << "no lock file outlives its holder";
}

// Threads and processes that all want the same few programs, a compile each.
TEST(ProgramCache, SeveralProcessesCompileOnce) {
  const TemporaryFolder folder;
  constexpr int keys = 5;
  const auto work = [&] {
    const ProgramCache cache = testing::open(folder.path() / "cache");
    for (int i = 0; i < keys; ++i) {
      auto held = cache.lock(key(i));
      auto found = cache.find(key(i));
      if (!held || !found) return 1;
      if (*found) {
        if (**found != program(i, 10'000)) return 2;
        continue;
      }
      // Compiles: leaves a mark that only one may leave.
      auto mark = open_file(folder.path() / std::to_string(i), O_WRONLY | O_CREAT | O_EXCL);
      if (!mark) return 3;
      std::this_thread::yield();
      if (!cache.put(key(i), program(i, 10'000), info)) return 4;
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int worst = 0;
      std::thread other([&] { worst = work(); });
      const int mine = work();
      other.join();
      ::_exit(std::max(mine, worst));
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  }
  EXPECT_EQ(names_in(folder.path() / "cache").size(), std::size_t{keys});
}

TEST(ProgramCache, AFolderThatCannotBeWrittenToStillAnswers) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "programs";
  ASSERT_TRUE(testing::open(path).put(key(1), "one", info));
  ::chmod(folder.path().c_str(), 0755);
  ::chmod(path.c_str(), 0555);
  EXPECT_EQ(in_child([&] {
              // To root every folder can be written to.
              if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;
              auto cache = ProgramCache::open(path);
              if (!cache) return 2;
              auto found = cache->find(key(1));
              if (!found || !*found || **found != "one") return 3;
              auto put = cache->put(key(2), "two", info);
              if (put || put.error().kind == ErrorKind::usage) return 4;
              if (cache->lock(key(2)) || cache->remember_loads(key(3), true)) return 5;
              return cache->loads(key(3)) ? 6 : 0;
            }),
            0);
  ::chmod(path.c_str(), 0755);
  EXPECT_EQ(names_in(path).size(), 1U);
}

TEST(ProgramCache, ADiskThatTakesNoMoreLeavesNoTrace) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path());
  ASSERT_TRUE(cache.put(key(1), program(1, 1000), info));
  EXPECT_EQ(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{20'000, 20'000};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              auto put = cache.put(key(2), program(2, 50'000), info);
              if (put || put.error().message().empty()) return 2;
              return cache.put(key(1), program(2, 50'000), info) ? 3 : 0;
            }),
            0);
  EXPECT_EQ(names_in(folder.path()).size(), 1U);
  EXPECT_EQ(**cache.find(key(1)), program(1, 1000)) << "the old one is not harmed";
}

TEST(ProgramCache, AFolderThatCannotBeMadeIsAnError) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  auto cache = ProgramCache::open(folder.path() / "file" / "programs");
  ASSERT_FALSE(cache);
  EXPECT_THAT(cache.error().message(), HasSubstr("file"));
}

TEST(ProgramCache, AFolderThatIsTakenAwayIsAnErrorAndComesBack) {
  const TemporaryFolder folder;
  const ProgramCache cache = testing::open(folder.path() / "programs");
  auto held = cache.lock(key(1));
  std::filesystem::remove_all(cache.folder());
  EXPECT_FALSE(cache.put(key(1), "one", info));
  EXPECT_FALSE(*cache.find(key(1)));
  EXPECT_FALSE(cache.list());
  std::filesystem::create_directories(cache.folder());
  auto other = cache.lock(key(1));
  ASSERT_TRUE(other) << "the held file is no longer at this name";
  held = fail(ErrorKind::usage, "let go");
  EXPECT_FALSE(*cache.try_lock(key(1))) << "letting go of the old one leaves the new one alone";
  EXPECT_TRUE(cache.put(key(1), "one", info));
}

}  // namespace
}  // namespace trainward::program_cache
