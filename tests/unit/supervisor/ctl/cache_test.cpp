// trainwardctl cache, on a cache that a worker might have filled.
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "common/base/digest.hpp"
#include "common/program_cache/program_cache.hpp"
#include "fixture.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class CacheCommands : public CtlTest {
 protected:
  [[nodiscard]] fs::path cache_folder() const { return folder_ / "cache" / "programs"; }
  [[nodiscard]] static std::string key(int number) { return sha256_hex(std::to_string(number)); }
  [[nodiscard]] fs::path file(int number) const {
    return cache_folder() / (key(number) + ".program");
  }

  ProgramCache fill() {
    ProgramCache cache = *ProgramCache::open(cache_folder());
    for (int i = 1; i <= 3; ++i) {
      EXPECT_TRUE(cache.put(key(i), std::string(1000, 'x'),
                            {"program_" + std::to_string(i), "sim 1.0", "libpjrt_sim_n300.so"}));
      // Three hours, two hours, one hour before the command's now.
      const timespec used{now_ms / 1000 - 3600 * (4 - i), 0};
      const timespec times[2] = {used, used};
      EXPECT_EQ(::utimensat(AT_FDCWD, file(i).c_str(), times, 0), 0);
    }
    return cache;
  }
  void damage(int number) const {
    std::fstream(file(number), std::ios::in | std::ios::out | std::ios::binary).seekp(500).put('!');
  }
  static json::value document(const Ran& ran) { return json::parse(ran.out); }
};

TEST_F(CacheCommands, WithoutACacheThereIsNothingAndNothingIsMade) {
  for (const char* verb : {"list", "verify", "clear"}) {
    const Ran ran = ctl({"cache", verb});
    EXPECT_EQ(ran.code, 0) << verb;
    EXPECT_EQ(ran.out, "Nothing is cached\n") << verb;
    EXPECT_TRUE(document(ctl({"cache", verb, "--json"})).is_object());
  }
  EXPECT_EQ(ctl({"cache", "prune", "--max-bytes", "0"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  const Ran named = ctl({"cache", "list", "--dir", (folder_ / "none").string()});
  EXPECT_EQ(named.code, 1);
  EXPECT_THAT(named.err, HasSubstr("no such folder"));
}

TEST_F(CacheCommands, ListShowsProgramsAndPlugins) {
  const ProgramCache cache = fill();
  ASSERT_TRUE(cache.remember_loads(key(9), false, "tt 0.9, pjrt_plugin_tt.so"));
  const Ran ran = ctl({"cache", "list"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("program_1"));
  EXPECT_THAT(ran.out, HasSubstr("3 h ago"));
  EXPECT_THAT(ran.out, HasSubstr("sim 1.0"));
  EXPECT_THAT(ran.out, HasSubstr("3 programs, "));
  EXPECT_THAT(ran.out, HasSubstr("plugin tt 0.9, pjrt_plugin_tt.so"));
  EXPECT_THAT(ran.out, HasSubstr("cannot load what it has compiled"));
  const json::value list =
      document(ctl({"--json", "cache", "list", "--dir", cache_folder().string()}));
  const json::array& programs = list.at("programs").as_array();
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[0].at("name"), "program_3") << "most recently used first";
  EXPECT_EQ(programs[0].at("used_at"), "2025-11-20T20:43:20.000Z");
  EXPECT_EQ(programs[0].at("key").as_string().size(), 64U);
  EXPECT_EQ(list.at("plugins").at(0).at("loads"), false);
  EXPECT_GT(list.at("bytes").to_number<int>(), 3000);
}

TEST_F(CacheCommands, VerifyTellsAndRepairs) {
  fill();
  EXPECT_EQ(ctl({"cache", "verify"}).code, 0);
  damage(2);
  const Ran found = ctl({"cache", "verify"});
  EXPECT_EQ(found.code, 1);
  EXPECT_THAT(found.out, HasSubstr("program_2 " + key(2).substr(0, 12) + ": DAMAGED: "));
  EXPECT_TRUE(fs::exists(file(2)));
  const json::value rows = document(ctl({"cache", "verify", "--json"}));
  // To the file system the damage was a use.
  EXPECT_EQ(rows.at("programs").at(0).at("ok"), false);
  EXPECT_EQ(rows.at("programs").at(0).at("removed"), false);
  EXPECT_EQ(rows.at("programs").at(1).at("problem"), "");
  const Ran repaired = ctl({"cache", "verify", "--repair"});
  EXPECT_EQ(repaired.code, 0);
  EXPECT_THAT(repaired.out, HasSubstr("; removed"));
  EXPECT_FALSE(fs::exists(file(2)));
  EXPECT_EQ(ctl({"cache", "verify"}).code, 0);
}

TEST_F(CacheCommands, VerifyLeavesWhatSomebodyHolds) {
  const ProgramCache cache = fill();
  damage(1);
  auto held = cache.lock(key(1));
  const Ran ran = ctl({"cache", "verify", "--repair"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("stays: somebody works with it"));
  EXPECT_TRUE(fs::exists(file(1)));
}

TEST_F(CacheCommands, PruneByAgeAndSize) {
  const ProgramCache cache = fill();
  const Ran old = ctl({"cache", "prune", "--older-than", "2.5h"});
  EXPECT_EQ(old.code, 0) << old.err;
  EXPECT_THAT(old.out, HasSubstr("program_1 "));
  EXPECT_THAT(old.out, HasSubstr("1 program removed"));
  EXPECT_FALSE(fs::exists(file(1)));
  auto held = cache.lock(key(2));
  const json::value done = document(ctl({"cache", "prune", "--max-bytes", "1KiB", "--json"}));
  EXPECT_EQ(done.at("removed").as_array().size(), 1U);
  EXPECT_EQ(done.at("in_use").at(0).at("name"), "program_2");
  EXPECT_GT(done.at("bytes_left").to_number<int>(), 1000);
}

TEST_F(CacheCommands, PruneWantsToKnowWhat) {
  EXPECT_EQ(ctl({"cache", "prune"}).code, 2);
  EXPECT_EQ(ctl({"cache", "prune", "--older-than", "soon"}).code, 2);
  EXPECT_EQ(ctl({"cache", "prune", "--older-than", "60"}).code, 2);
  EXPECT_EQ(ctl({"cache", "prune", "--max-bytes", "some"}).code, 2);
  EXPECT_EQ(ctl({"cache"}).code, 2);
  EXPECT_THAT(ctl({"cache", "lst"}).err, HasSubstr("did you mean 'list'?"));
}

TEST_F(CacheCommands, ClearRemovesAll) {
  const ProgramCache cache = fill();
  ASSERT_TRUE(cache.remember_loads(key(9), true));
  const Ran ran = ctl({"cache", "clear"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("3 programs removed"));
  EXPECT_TRUE(fs::is_empty(cache_folder()));
}

TEST_F(CacheCommands, TextFromAProgramCannotDriveTheTerminal) {
  const ProgramCache cache = fill();
  ASSERT_TRUE(cache.put(key(4), "x", {"\x1b[2J", "\x1b[31m", "\x1b]0;x\x07"}));
  ASSERT_TRUE(cache.remember_loads(key(9), true, "\x1b[2J"));
  for (const char* verb : {"list", "verify", "clear"}) {
    EXPECT_THAT(ctl({"cache", verb}).out, Not(HasSubstr("\x1b"))) << verb;
  }
}

}  // namespace
}  // namespace trainward::ctl
