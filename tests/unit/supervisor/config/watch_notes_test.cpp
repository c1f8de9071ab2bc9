// What is said of a command that nobody will see all of: one note at most.
#include <gmock/gmock.h>

#include "fixture.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class WatchNotes : public ConfigTest {
 protected:
  // Of a program of /bin/true with these arguments and lines.
  std::vector<std::string> notes(const std::string& arguments,
                                 const std::vector<std::string>& lines = {}) const {
    std::string text = "programs:\n  a:\n    command: [/bin/true" + arguments + "]\n";
    for (const std::string& line : lines) text += "    " + line + "\n";
    const auto config = load_text(text);
    EXPECT_TRUE(config) << config.error().front().text();
    std::vector<std::string> out;
    if (!config) return out;
    for (const Problem& note : config->notes) out.push_back(note.message);
    return out;
  }
};

TEST_F(WatchNotes, CheckpointsThatNobodySees) {
  EXPECT_THAT(notes(""), ElementsAre("programs.a.watch: I can't see checkpoints; after a crash the "
                                     "command is simply started again. If it saves, say where: "
                                     "watch: {checkpoints: ['out/ckpt*.pt']}"));
  EXPECT_EQ(notes("", {"watch: {status_file: s.json}"}).size(), 1U);
  EXPECT_THAT(notes("", {"watch: {checkpoints: ['*.pt']}"}), IsEmpty())
      << "it goes on by itself from what is seen";
}

TEST_F(WatchNotes, APlaceToGoOnFromThatIsAlwaysTheBeginning) {
  EXPECT_THAT(notes(", [--resume, '{checkpoint}']"),
              ElementsAre(AllOf(HasSubstr("is always the beginning"),
                                HasSubstr("watch.checkpoints says where"))));
  EXPECT_THAT(notes(", [--resume, '{checkpoint}']", {"watch: {checkpoints: ['*.pt']}"}), IsEmpty());
}

TEST_F(WatchNotes, ACommandOfWhichNothingIsSeen) {
  EXPECT_THAT(notes("", {"watch: off"}),
              ElementsAre(AllOf(StartsWith("programs.a.watch: its steps, losses and checkpoints "
                                           "will not be seen"),
                                HasSubstr("neither computes nor writes (deadlines.silence)"),
                                HasSubstr("watch: auto, or watch.log, watch.status_file"))));
  EXPECT_THAT(notes("", {"watch: off", "deadlines: {silence: 0s}"}),
              ElementsAre(HasSubstr("a hang shows not at all (deadlines.silence)")));
  EXPECT_THAT(notes("", {"watch: {auto: false, cpu_time: true, checkpoints: ['*.pt']}"}),
              ElementsAre(AllOf(HasSubstr("only in the processor time"),
                                HasSubstr("its steps and losses will"))));
}

TEST_F(WatchNotes, WhoTellsOfItselfNeedsNone) {
  EXPECT_THAT(notes("", {"watch: {protocol: true}"}), IsEmpty());
  const auto own = load_text("programs:\n  a: {}\n");
  ASSERT_TRUE(own) << own.error().front().text();
  EXPECT_THAT(own->notes, IsEmpty());
}

}  // namespace
}  // namespace trainward::config
