// What `--once` shows, on a real terminal of eighty columns and in a file.
#include "supervisor/daemon/base/console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/os/fd.hpp"
#include "common/terminal/display_text.hpp"

namespace trainward::daemon {
namespace {

using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::ResultOf;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// What a terminal of `columns` was sent until it was closed.
std::string on_a_terminal(unsigned short columns, const std::function<void(Console&)>& use) {
  int screen = -1;
  int terminal = -1;
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 24;
  EXPECT_EQ(::openpty(&screen, &terminal, nullptr, nullptr, &size), 0);
  const Fd reader(screen);
  {
    const File out(::fdopen(terminal, "w"));
    Console console(true, out.get());
    use(console);
  }
  std::string text;
  char piece[512];
  for (ssize_t got = 0; (got = ::read(reader.get(), piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

const std::string long_text =
    "device_oom at step 25: Out of Memory: Not enough space for 3 GiB — "
    "of which 12 banks have 0 B left, so that nothing is to be had";

TEST(Console, NoEventIsWiderThanTheTerminal) {
  const auto lines = lines_in(on_a_terminal(80, [](Console& console) {
    console.event("quickstart", "exit", long_text, {1, 1});
    console.event("quickstart", "state", "next attempt", {2, 2});
  }));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines, Each(ResultOf(display_width, Le(80U))));
  EXPECT_THAT(lines[0], EndsWith("…"));
  EXPECT_THAT(lines[1], EndsWith("all of it: trainwardctl why quickstart"));
  EXPECT_THAT(lines[2], EndsWith("next attempt"));
}

TEST(Console, TheLiveLineFitsATerminalThatIsNarrow) {
  const std::string shown = on_a_terminal(40, [](Console& console) {
    console.progress({"quickstart", "RUNNING", 3, 75, 300, 2.5, 12'345.0}, {1'000, 1'000});
  });
  EXPECT_THAT(lines_in(shown), Each(ResultOf(display_width, Le(40U))));
  EXPECT_THAT(shown, HasSubstr("…"));
}

TEST(Console, WhatTheModelSaysIsALine) {
  const auto lines = lines_in(on_a_terminal(100, [](Console& console) {
    console.sample("p", {40, "Capital of France?", "Paris.\nOn the Seine.\x1b[2J"}, {1, 1});
  }));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0],
              HasSubstr("sample    step 40: Capital of France? → Paris. On the Seine.?[2J"));
}

TEST(Console, AFileGetsALineEvery25Steps) {
  const File out(std::tmpfile());
  Console console(true, out.get());
  for (std::int64_t step = 1; step <= 60; ++step) {
    console.progress({"p", "RUNNING", 1, step, 60, 2.5, 100.0}, {step, step});
  }
  std::rewind(out.get());
  char text[512] = {};
  const std::size_t got = std::fread(text, 1, sizeof text - 1, out.get());
  const auto lines = lines_in(std::string(text, got));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("step 25/60  loss 2.500  100 tokens/s"));
  EXPECT_THAT(lines[1], HasSubstr("step 50/60"));
}

TEST(Console, WhatNobodyToldIsADash) {
  const File out(std::tmpfile());
  Console console(true, out.get());
  console.progress({"p", "RUNNING", 1, 25}, {1, 1});
  std::rewind(out.get());
  char text[256] = {};
  const std::size_t got = std::fread(text, 1, sizeof text - 1, out.get());
  EXPECT_THAT(std::string(text, got), HasSubstr("step 25  loss -  - tokens/s  attempt 1"));
}

}  // namespace
}  // namespace trainward::daemon
