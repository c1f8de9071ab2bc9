// notify: what is taken, and what is refused with its place.
#include <gmock/gmock.h>

#include "fixture.hpp"

namespace trainward::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string whole_program = "programs: {a: {command: [/bin/true]}}\n";

class Notifies : public ConfigTest {
 protected:
  notify::Policy policy(const std::string& section) const {
    const auto loaded = load_text(whole_program + "notify: {" + section + "}\n");
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().front().text());
    return loaded ? loaded->notify.policy : notify::Policy{};
  }
  std::vector<std::string> found(const std::string& section) const {
    return problems(whole_program + "notify: {" + section + "}\n");
  }
};

TEST_F(Notifies, WithoutASectionEverythingIsAsUsual) {
  EXPECT_EQ(load_text(whole_program)->notify.policy, notify::Policy{});
  EXPECT_EQ(notify::Policy{}.digest, 8 * 60);
}

TEST_F(Notifies, WhateverIsSaidCounts) {
  const notify::Policy read = policy(
      "hold: 2min, no_progress: 6h, repeat: 0s, quiet: \"22:00-7:30\", digest: \"9:05\", "
      "log_lines: 0, page: \"https://train.example.org:8443/\"");
  EXPECT_EQ(read.hold_ms, 120'000);
  EXPECT_EQ(read.no_progress_ms, 21'600'000);
  EXPECT_EQ(read.repeat_ms, 0);
  EXPECT_EQ(read.quiet, (notify::Quiet{22 * 60, 7 * 60 + 30}));
  EXPECT_EQ(read.digest, 9 * 60 + 5);
  EXPECT_EQ(read.log_lines, 0);
  EXPECT_EQ(read.page, "https://train.example.org:8443");
  EXPECT_EQ(policy("digest: off, quiet: off").digest, std::nullopt);
  EXPECT_EQ(policy("digest: off, quiet: off").quiet, std::nullopt);
}

TEST_F(Notifies, WhatIsNoTimeOfTheDayIsRefused) {
  for (const char* wrong : {"24:00", "8", "08:60", "8:5", "0800", "x8:00", ":30", "008:00"}) {
    EXPECT_THAT(found("digest: \"" + std::string(wrong) + "\""),
                ElementsAre(HasSubstr("expected a time of the day")))
        << wrong;
  }
  for (const char* wrong : {"22:00", "22:00-", "22:00-22:00", "22:00-25:00", "-"}) {
    EXPECT_THAT(found("quiet: \"" + std::string(wrong) + "\""),
                ElementsAre(HasSubstr("expected two times of the day")))
        << wrong;
  }
}

// What a message holds goes to many places.
TEST_F(Notifies, AnAddressThatOpensThePageIsRefused) {
  for (const char* wrong : {"train.example.org", "https://u:p@host", "https://host/?token=x",
                            "https://host/#x", "javascript:alert(1)", "https://a b"}) {
    EXPECT_THAT(found("page: \"" + std::string(wrong) + "\""),
                ElementsAre(StartsWith("2:16: notify.page: expected the address")))
        << wrong;
  }
}

TEST_F(Notifies, OtherMistakesAreFoundWithTheirPlace) {
  EXPECT_THAT(found("log_lines: 11"), ElementsAre(HasSubstr("notify.log_lines")));
  EXPECT_THAT(found("hold: 90"), ElementsAre(HasSubstr("notify.hold")));
  EXPECT_THAT(found("holds: 90s"), ElementsAre(HasSubstr("did you mean 'hold'?")));
}

}  // namespace
}  // namespace trainward::config
