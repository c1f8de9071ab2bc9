#include "hwprobe/stages/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

std::vector<BoardLook> sample() {
  BoardLook bus{"bus", {{"bus", Ending::finished, "", {{"list /sys", "a b", ""}}, 3}}};
  BoardLook board{"0000:c1:00.0", {}};
  board.stages.push_back({"pci", Ending::finished, "", {{"bytes /c", "521e", ""}}, 1});
  board.stages.push_back({"attributes",
                          Ending::deadline,
                          "",
                          {{"file /a", "x\ny", ""}, {"file /a", "", "ENODATA"}},
                          5000});
  BoardLook other{"0000:c2:00.0",
                  {{"pci", Ending::stuck_in_kernel, "process 7 hangs in the kernel", {}, 3001}}};
  return {bus, board, other};
}

std::string error_of(std::string_view text) {
  const auto looks = looks_from_text(text);
  return looks ? "" : looks.error().message();
}

TEST(Recording, ReadsBack) {
  const auto looks = looks_from_text(to_text(sample()));
  ASSERT_TRUE(looks) << looks.error().message();
  EXPECT_EQ(*looks, sample());
}

TEST(Recording, EveryEndingReadsBack) {
  for (int i = 0; i <= static_cast<int>(Ending::not_started); ++i) {
    const std::vector<BoardLook> looks{{"b", {{"s", static_cast<Ending>(i), "a b", {}, 1}}}};
    EXPECT_EQ(looks_from_text(to_text(looks)), looks);
  }
}

// A stage that has lost its end counts as one that was cut short, so nothing is made of silence.
TEST(Recording, CutAnywhereItHoldsWhatWasThereBefore) {
  const std::string text = to_text(sample());
  for (std::size_t size = text.find('\n'); size < text.size(); ++size) {
    const auto looks = looks_from_text(text.substr(0, size));
    ASSERT_TRUE(looks) << size << ": " << looks.error().message();
    for (std::size_t b = 0; b < looks->size(); ++b) {
      const BoardLook whole = sample()[b];
      for (std::size_t s = 0; s < (*looks)[b].stages.size(); ++s) {
        const StageResult& stage = (*looks)[b].stages[s];
        if (stage == whole.stages[s]) continue;
        EXPECT_EQ(stage.ending, Ending::deadline);
        ASSERT_LE(stage.readings.size(), whole.stages[s].readings.size());
        EXPECT_TRUE(std::equal(stage.readings.begin(), stage.readings.end(),
                               whole.stages[s].readings.begin()));
      }
    }
  }
}

TEST(Recording, CommentsAndEmptyLinesAreAllowed) {
  const auto looks = looks_from_text(
      "# trainward-probe recording 1\r\n\n# mine\nstage = b s\nfile /a = 1\n  \nend = finished 5 "
      "\n");
  ASSERT_TRUE(looks) << looks.error().message();
  EXPECT_EQ(
      *looks,
      (std::vector<BoardLook>{{"b", {{"s", Ending::finished, "", {{"file /a", "1", ""}}, 5}}}}));
}

TEST(Recording, SaysInWhatLineItIsWrong) {
  const std::string head = "# trainward-probe recording 1\n";
  EXPECT_THAT(error_of(""), HasSubstr("is not a recording"));
  EXPECT_THAT(error_of("{}"), HasSubstr("is not a recording"));
  EXPECT_THAT(error_of(head + "hello\n"), HasSubstr("line 2: is not a reading"));
  EXPECT_THAT(error_of(head + "file /a = 1\n"), HasSubstr("line 2: comes before any 'stage"));
  EXPECT_THAT(error_of(head + "stage = \n"), HasSubstr("line 2: names no board"));
  EXPECT_THAT(error_of(head + "stage = b s\nend = great 5\n"), HasSubstr("line 3: has an unknown"));
  EXPECT_THAT(error_of(head + "stage = b s\nend = finished 1\nend = finished 1\n"),
              HasSubstr("line 4: comes before"));
  std::string many = head;
  for (int i = 0; i < 100; ++i) many += "stage = b" + std::to_string(i) + " s\n";
  EXPECT_THAT(error_of(many), HasSubstr("too many boards"));
  many = head;
  for (int i = 0; i < 100; ++i) many += "stage = b s\n";
  EXPECT_THAT(error_of(many), HasSubstr("one stage too many"));
}

}  // namespace
}  // namespace trainward::hwprobe
