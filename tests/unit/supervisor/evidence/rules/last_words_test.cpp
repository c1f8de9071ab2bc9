// What a program said last.
#include "supervisor/evidence/rules/last_words.hpp"

#include "matcher_fixture.hpp"

namespace trainward::rules {
namespace {

class LastLine : public BuiltinMatcher {
 protected:
  static std::string of(std::string_view text) {
    const auto words = last_words(*matcher, text);
    return words ? std::to_string(words->line_number) + ": " + words->line : "";
  }
};

TEST_F(LastLine, IsTheLastOneWithAWord) {
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("\n\n  \n---\n"), "");
  EXPECT_EQ(of("bad learning rate"), "1: bad learning rate");
  EXPECT_EQ(of("reading\nlr must be above 0\n\n=====\n"), "2: lr must be above 0");
  EXPECT_EQ(of("ein Ding zu viel: Größe\r\n"), "1: ein Ding zu viel: Größe");
}

TEST_F(LastLine, PassesProgressAndChatterOver) {
  EXPECT_EQ(of("no such optimizer: sgdd\n 10%|# | 12/120 [00:05<00:45,  2.33it/s]\n"),
            "1: no such optimizer: sgdd");
  EXPECT_EQ(of("unknown key 'lrr'\nstep 12 loss 2.31\nwandb: Synced 5 W&B file(s)\n"
               "node01:1:2 [0] NCCL INFO comm 0x5 - Abort COMPLETE\n"),
            "1: unknown key 'lrr'");
  EXPECT_EQ(of("step 12 loss 2.31\n"), "");
}

TEST_F(LastLine, OfATracebackIsTheException) {
  EXPECT_EQ(of("Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n"
               "    main()\nValueError: lr must be above 0\n"),
            "4: ValueError: lr must be above 0");
}

TEST_F(LastLine, IsPrintableAndBounded) {
  EXPECT_EQ(of("\x1b[31mred\x1b[0m \x07 words\xff"), "1: red   words?");
  const auto words = last_words(*matcher, std::string(100'000, 'x'));
  ASSERT_TRUE(words);
  EXPECT_EQ(words->line.size(), 500U);
  std::string storm = "why\n";
  for (int i = 0; i < 10'000; ++i) storm += "12345\n";
  EXPECT_EQ(of(storm), "");
}

}  // namespace
}  // namespace trainward::rules
