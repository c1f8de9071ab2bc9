// What is written to a terminal makes it show what was drawn, whatever it showed before.
#include "supervisor/ctl/top/paint.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sample.hpp"
#include "supervisor/ctl/top/top_view.hpp"
#include "terminal_model.hpp"

namespace trainward::ctl::top {
namespace {

void expect_shown(const TerminalModel& terminal, const Canvas& canvas) {
  ASSERT_EQ(terminal.wrong, "");
  for (int y = 0; y < canvas.size().height; ++y) {
    for (int x = 0; x < canvas.size().width; ++x) {
      const Cell& wanted = canvas.at(x, y);
      ASSERT_EQ(terminal.at(x, y).text, wanted.text) << "at " << x << ", " << y;
      const bool plain = terminal.at(x, y).look.empty();
      ASSERT_EQ(plain, wanted.look == Look{}) << "at " << x << ", " << y;
    }
  }
}

Canvas random_canvas(std::mt19937& random, Size size, const Canvas* like) {
  Canvas canvas = like != nullptr && random() % 2 == 0 ? *like : Canvas(size);
  const char* const pieces[] = {"a",  "word", "漢字",  "é", "e\u0301",
                                "⣿⣷", " ",    "     ", "▲", "\x1b[2J"};
  for (int i = 0; i < 30; ++i) {
    Look look;
    look.ink = static_cast<Ink>(random() % 7);
    look.bold = random() % 3 == 0;
    canvas.put(static_cast<int>(random() % 40) - 5, static_cast<int>(random() % 12) - 2,
               pieces[random() % std::size(pieces)], random() % 3 == 0 ? Look{} : look, 30);
  }
  return canvas;
}

TEST(Paint, AnyScreenBecomesAnyOther) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    const Size size{static_cast<int>(random() % 30) + 1, static_cast<int>(random() % 8) + 1};
    TerminalModel terminal(size.width, size.height);
    terminal.wraps = false;  // as the screen has it
    Canvas shown(size);
    terminal.take(paint(nullptr, shown, {}));
    for (int step = 0; step < 6; ++step) {
      const Canvas wanted = random_canvas(random, size, &shown);
      terminal.take(paint(&shown, wanted, {}));
      expect_shown(terminal, wanted);
      if (HasFatalFailure()) return;
      EXPECT_EQ(paint(&wanted, wanted, {}), "");
      shown = wanted;
    }
  }
}

TEST(Paint, WithoutColoursThereAreAttributesAlone) {
  Canvas canvas({20, 2});
  canvas.put(0, 0, "red", {.ink = Ink::red}, 20);
  canvas.put(0, 1, "bold", {.ink = Ink::green, .bold = true}, 20);
  const std::string bytes = paint(nullptr, canvas, {.colour = false});
  EXPECT_EQ(bytes.find(";3"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find("\x1b[0;1m"), std::string::npos) << bytes;
}

TEST(Paint, AsciiTerminalsGetAsciiAlone) {
  Ui ui = sample_ui({100, 40});
  ui.ascii = true;
  ui.shown.log.lines.push_back("漢字 und Ümläute");
  const Canvas canvas = draw(ui);
  for (const char byte : paint(nullptr, canvas, {.colour = true, .ascii = true})) {
    ASSERT_LT(static_cast<unsigned char>(byte), 0x80U);
  }
  for (const char byte : text_of(canvas, true)) ASSERT_LT(static_cast<unsigned char>(byte), 0x80U);
}

// Over a slow line: a second in which a step was done and a line was printed.
TEST(Paint, ASecondOfARunIsAFewHundredBytes) {
  Ui ui = sample_ui({80, 24});
  const Canvas before = draw(ui);
  ui.shown.clock = "21:41:08";
  ui.shown.programs[1].sentence =
      "RUNNING for 3 h, step 1,001 of 5,000, loss 2.039, effective 87 %; nothing to do.";
  ui.shown.log.lines.push_back("step 1001 loss 2.039");
  ui.shown.curve->newest_step = 1001;
  const std::string bytes = paint(&before, draw(ui), {});
  EXPECT_LT(bytes.size(), 400U) << bytes;
  EXPECT_GT(paint(nullptr, before, {}).size(), 1'000U);
}

}  // namespace
}  // namespace trainward::ctl::top
