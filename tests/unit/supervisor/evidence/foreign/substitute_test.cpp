// Names in texts, and arguments that are left out.
#include "supervisor/evidence/foreign/substitute.hpp"

#include <gmock/gmock.h>

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Template made(const std::string& text) { return Template::parse(text, launch_names()).value(); }

TEST(Template, FillsInNamesAndNothingElse) {
  const Values values{{"checkpoint", "$(rm -rf /); {attempt}"}, {"attempt", "3"}};
  EXPECT_EQ(made("a-{attempt}-{attempt}").fill(values).text, "a-3-3");
  EXPECT_EQ(made("{checkpoint}").fill(values).text, "$(rm -rf /); {attempt}");
  EXPECT_EQ(made("{{attempt} } {{{attempt}").fill(values).text, "{attempt} } {3");
  EXPECT_TRUE(made("x{devices}").fill(values).empty_value);
  EXPECT_FALSE(made("").fill(values).empty_value);
  EXPECT_TRUE(made("{checkpoint}").names("checkpoint"));
  EXPECT_FALSE(made("{{checkpoint}").names("checkpoint"));
}

TEST(Template, RefusesWhatItDoesNotKnow) {
  const auto why = [](const std::string& text) {
    return Template::parse(text, launch_names()).error().what;
  };
  EXPECT_THAT(why("{atempt}"), HasSubstr("did you mean '{attempt}'?"));
  EXPECT_THAT(why("{}"), HasSubstr("valid: checkpoint, "));
  EXPECT_THAT(why("{attempt"), HasSubstr("without its '}'"));
  EXPECT_THAT(Template::parse("{attempt}", reset_names()).error().what,
              HasSubstr("valid: serial, bus_id"));
}

TEST(Command, ListsStandOrFallTogether) {
  const Command command{{{made("train")}, false},
                        {{made("--resume"), made("{checkpoint}")}, true},
                        {{made("--log={devices}")}, true},
                        {{made("{devices}")}, false}};
  EXPECT_THAT(fill(command, {}), ElementsAre("train", ""));
  EXPECT_THAT(fill(command, {{"checkpoint", "/c"}}), ElementsAre("train", "--resume", "/c", ""));
  EXPECT_THAT(fill(command, {{"devices", "0"}}), ElementsAre("train", "--log=0", "0"));
}

TEST(Command, WordsForAValueThatIsThere) {
  const Command command{{{made("train")}, false},
                        {{made("{checkpoint:+--init_from=resume}")}, false},
                        {{made("--mode={checkpoint:+resumed-}{attempt}")}, false},
                        {{made("--from"), made("{checkpoint:+there}")}, true}};
  EXPECT_THAT(fill(command, {{"attempt", "1"}}), ElementsAre("train", "--mode=1"));
  EXPECT_THAT(fill(command, {{"attempt", "2"}, {"checkpoint", "/c"}}),
              ElementsAre("train", "--init_from=resume", "--mode=resumed-2", "--from", "there"));
  EXPECT_TRUE(made("{checkpoint:+x}").names("checkpoint"));
  EXPECT_THAT(Template::parse("{checkpoint:+}", launch_names()).error().what,
              HasSubstr("says nothing"));
  EXPECT_THAT(Template::parse("{chekpoint:+x}", launch_names()).error().what,
              HasSubstr("did you mean '{checkpoint}'?"));
}

TEST(Values, ThePlanStandsBeforeWhatIsConfigured) {
  LaunchFacts facts;
  facts.configured.block = 1024;
  facts.configured.batch = 8;
  EXPECT_EQ(values_of(facts).at("block"), "1024");
  EXPECT_EQ(values_of(facts).at("accumulation"), "1");
  EXPECT_EQ(values_of(facts).at("resume_step"), "0");
  EXPECT_EQ(values_of(facts).at("checkpoint_every"), "");
  facts.plan.block = 512;
  facts.plan.checkpoint_every = 5;
  EXPECT_EQ(values_of(facts).at("block"), "512");
  EXPECT_EQ(values_of(facts).at("batch"), "8");
  EXPECT_EQ(values_of(facts).at("checkpoint_every"), "5");
}

TEST(Values, EveryNameHasOne) {
  const Values values = values_of({});
  for (const std::string_view name : launch_names()) EXPECT_TRUE(values.contains(name)) << name;
  EXPECT_EQ(values.size(), launch_names().size());
}

}  // namespace
}  // namespace trainward::foreign
