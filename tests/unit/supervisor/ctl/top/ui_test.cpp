// Keys against the screen's state.
#include "supervisor/ctl/top/ui.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sample.hpp"
#include "supervisor/ctl/top/paint.hpp"
#include "supervisor/ctl/top/top_view.hpp"
#include "terminal_model.hpp"

namespace trainward::ctl::top {
namespace {

Key key(const char* text) { return {KeyName::text, text}; }
Key key(KeyName name) { return {name, ""}; }

bool shows(const Ui& ui, const std::string& text) {
  return text_of(draw(ui), false).find(text) != std::string::npos;
}

TEST(Keyboard, NothingIsDoneToAProgramWithoutAYesToWhatItCosts) {
  Ui ui = sample_ui({80, 24});
  const Effect asked = take(ui, key("r"));
  ASSERT_TRUE(std::holds_alternative<AskCost>(asked));
  EXPECT_EQ(std::get<AskCost>(asked).program, "trainer");
  EXPECT_TRUE(shows(ui, "Restart trainer? asking what it costs"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(take(ui, key("y"))))
      << "nobody agrees to what is not said yet";
  take_cost(ui, Verb::stop, "trainer", "of another question");
  take_cost(ui, Verb::restart, "trainer", "41 steps since step 3,200 would be done again.");
  EXPECT_TRUE(shows(ui, "Restart trainer? 41 steps since step 3,200 would be done again. [y/n]"));
  const Effect done = take(ui, key("y"));
  ASSERT_TRUE(std::holds_alternative<Carry>(done));
  EXPECT_EQ(std::get<Carry>(done).verb, Verb::restart);
  EXPECT_FALSE(ui.question);
}

TEST(Keyboard, EveryKeyButYesIsNo) {
  for (const Key& answer :
       {key("n"), key("q"), key("t"), key(KeyName::enter), key(KeyName::escape)}) {
    Ui ui = sample_ui({80, 24});
    take(ui, key("t"));
    take_cost(ui, Verb::stop, "trainer", "nothing is lost.");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(take(ui, answer)));
    EXPECT_FALSE(ui.question);
    EXPECT_TRUE(shows(ui, "nothing was done"));
  }
}

TEST(Keyboard, WithoutADaemonNothingIsAskedFor) {
  Ui ui = sample_ui({80, 24});
  ui.shown.origin = Origin::database;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(take(ui, key("s"))));
  EXPECT_FALSE(ui.question);
  EXPECT_TRUE(shows(ui, "trainwardd does not answer, so nothing can be started from here"));
}

TEST(Keyboard, AnotherProgramIsSelectedAndNothingOfTheOldOneIsLeft) {
  Ui ui = sample_ui({80, 24});
  EXPECT_TRUE(shows(ui, "step 1000 loss 2.040"));
  take(ui, key(KeyName::up));
  EXPECT_EQ(ui.selected, "broken");
  EXPECT_EQ(interest_of(ui).program, "broken");
  EXPECT_FALSE(shows(ui, "step 1000 loss 2.040"));
  take(ui, sample_snapshot());  // an answer about the other, on its way meanwhile
  EXPECT_FALSE(shows(ui, "step 1000 loss 2.040"));
  take(ui, key("]"));
  EXPECT_EQ(ui.selected, "trainer");
}

TEST(Keyboard, AProgramThatIsGoneIsNotSelected) {
  Ui ui = sample_ui({80, 24});
  Snapshot later = sample_snapshot();
  later.programs.pop_back();
  later.selected = "broken";
  take(ui, later);
  EXPECT_EQ(ui.selected, "broken");
  take(ui, Snapshot{});
  EXPECT_EQ(ui.selected, "broken") << "a look that failed changes nothing";
}

TEST(Keyboard, TheCurveIsZoomedAndMoved) {
  Ui ui = sample_ui({80, 24});
  EXPECT_EQ(interest_of(ui).to, 0);
  take(ui, key("+"));
  EXPECT_EQ(ui.zoom, (Zoom{500, 0}));
  EXPECT_EQ(interest_of(ui).from, 501);
  EXPECT_EQ(interest_of(ui).to, 1000);
  take(ui, key("h"));
  EXPECT_EQ(ui.zoom, (Zoom{500, 875}));
  take(ui, key("h"));
  take(ui, key("h"));
  take(ui, key("h"));
  take(ui, key("h"));
  EXPECT_EQ(ui.zoom, (Zoom{500, 500})) << "not before the first step";
  for (int i = 0; i < 4; ++i) take(ui, key("l"));
  EXPECT_EQ(ui.zoom, (Zoom{500, 0})) << "at the newest it goes on with it";
  for (int i = 0; i < 20; ++i) take(ui, key("+"));
  EXPECT_EQ(ui.zoom.steps, 16);
  for (int i = 0; i < 20; ++i) take(ui, key("-"));
  EXPECT_EQ(ui.zoom, Zoom{});
  ui.focus = Pane::curve;
  take(ui, key(KeyName::up));
  EXPECT_EQ(ui.zoom.steps, 500);
  take(ui, key("0"));
  EXPECT_EQ(ui.zoom, Zoom{});
}

TEST(Keyboard, EventsAndLogAreFiltered) {
  Ui ui = sample_ui({80, 24});
  take(ui, key("/"));
  for (const char* letter : {"9", "9", "8", "x"}) take(ui, key(letter));
  take(ui, key(KeyName::backspace));
  EXPECT_TRUE(shows(ui, "step 998"));
  EXPECT_FALSE(shows(ui, "step 1000 loss"));
  EXPECT_FALSE(shows(ui, "device_oom: Out of Memory"));
  take(ui, key(KeyName::enter));
  EXPECT_EQ(ui.filter, "998");
  EXPECT_TRUE(shows(ui, "only \"998\""));
  take(ui, key(KeyName::escape));
  EXPECT_TRUE(shows(ui, "step 1000 loss"));
}

TEST(Keyboard, PanesAreScrolledAndPutAway) {
  Ui ui = sample_ui({80, 24});
  for (int i = 0; i < 100; ++i) ui.shown.log.lines.push_back("line " + std::to_string(i));
  EXPECT_TRUE(shows(ui, "line 99"));
  ui.focus = Pane::log;
  take(ui, key(KeyName::home));
  EXPECT_TRUE(shows(ui, "loading data"));
  EXPECT_TRUE(shows(ui, "newer below"));
  take(ui, key(KeyName::end));
  EXPECT_TRUE(shows(ui, "line 99"));
  take(ui, key("5"));
  EXPECT_FALSE(shows(ui, "line 99"));
  EXPECT_EQ(ui.focus, Pane::programs);
  for (int i = 0; i < 12; ++i) {
    take(ui, key(KeyName::tab));
    EXPECT_NE(ui.focus, Pane::log);
  }
}

TEST(Keyboard, EndsStopsAndDrawsAnew) {
  Ui ui = sample_ui({80, 24});
  EXPECT_TRUE(std::holds_alternative<Quit>(take(ui, key("q"))));
  const Effect interrupted = take(ui, {KeyName::control, "C"});
  ASSERT_TRUE(std::holds_alternative<Quit>(interrupted));
  EXPECT_EQ(std::get<Quit>(interrupted).status, 130);
  EXPECT_TRUE(std::holds_alternative<Suspend>(take(ui, {KeyName::control, "Z"})));
  EXPECT_TRUE(std::holds_alternative<Redraw>(take(ui, {KeyName::control, "L"})));
  take(ui, key("?"));
  EXPECT_TRUE(shows(ui, "any key closes this"));
  take(ui, key("x"));
  EXPECT_FALSE(shows(ui, "any key closes this"));
}

// Whatever is typed, on whatever screen, with whatever names and logs: the terminal shows what was
// drawn, and nothing is written outside.
TEST(Keyboard, AnyKeysOnAnyScreen) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const char* const hostile[] = {"\x1b[2J\x1b]0;x\x07",
                                 "漢字漢字漢字漢字漢字",
                                 "\u202Eabc",
                                 "e\u0301\u0301\u0301",
                                 "\xff\xfe",
                                 "",
                                 "a\nb\rc\td"};
  const auto any = [&] { return std::string(hostile[random() % std::size(hostile)]); };
  for (int round = 0; round < 60; ++round) {
    Ui ui = sample_ui({static_cast<int>(random() % 140), static_cast<int>(random() % 50)});
    TerminalModel terminal(std::max(ui.size.width, 1), std::max(ui.size.height, 1));
    terminal.wraps = false;  // as the screen has it
    std::optional<Canvas> shown;
    for (int i = 0; i < 60; ++i) {
      Key next{static_cast<KeyName>(random() % 15), ""};
      if (next.name == KeyName::text || random() % 2 == 0) {
        next = {KeyName::text, std::string(1, static_cast<char>(' ' + random() % 95))};
      }
      const Effect effect = take(ui, next);
      if (const auto* cost = std::get_if<AskCost>(&effect)) {
        take_cost(ui, cost->verb, cost->program, any());
      }
      if (random() % 8 == 0) {
        Snapshot snapshot = sample_snapshot();
        snapshot.programs.push_back({any(), looks::bad, any(), any() + any(), any(), false,
                                     Silence{static_cast<std::int64_t>(random()), 1}});
        snapshot.log.lines.push_back(any());
        snapshot.events.push_back({9, any(), -1, any(), any(), any()});
        snapshot.boards.push_back({any(), any(), any(), any(), {}, 1e30, 75, -1.0, any()});
        snapshot.ledgers.push_back({any(), 1, -2, {{any(), any(), 3}}});
        for (CurvePoint& point : snapshot.curve->points) {
          if (random() % 9 == 0) point.most = 1e300;
          if (random() % 9 == 0) point.mean = no_number;
          if (random() % 9 == 0) point.step = static_cast<std::int64_t>(random());
        }
        snapshot.curve->attempts.push_back({3, 1LL << 62, -5, "device_oom", true});
        snapshot.selected = ui.selected;
        take(ui, std::move(snapshot));
      }
      const Canvas wanted = draw(ui);
      ASSERT_EQ(wanted.size(), ui.size);
      terminal.take(paint(shown ? &*shown : nullptr, wanted, {}));
      ASSERT_EQ(terminal.wrong, "");
      for (int y = 0; y < ui.size.height; ++y) {
        for (int x = 0; x < ui.size.width; ++x) {
          ASSERT_EQ(terminal.at(x, y).text, wanted.at(x, y).text) << x << ", " << y;
        }
      }
      shown = wanted;
    }
  }
}

}  // namespace
}  // namespace trainward::ctl::top
