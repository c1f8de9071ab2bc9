// Lines typed at a terminal: keys in, text out.
#include "supervisor/ctl/base/line_editor.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <thread>

#include "common/os/file.hpp"

namespace trainward::ctl {
namespace {

class LineEditorTest : public testing::Test {
 protected:
  LineEditorTest() {
    EXPECT_EQ(::openpty(&ours_, &terminal_, nullptr, nullptr, nullptr), 0);
    editor_.emplace(terminal_, terminal_, [](const std::string&) {
      return Names{"status", "start"};
    });
  }
  ~LineEditorTest() override {
    editor_.reset();
    ::close(ours_);
    ::close(terminal_);
  }
  // What a line with these keys is. They come once the editor has the terminal: until then Ctrl-C
  // and Ctrl-D are the kernel's.
  std::string typed(const std::string& keys) {
    const std::jthread typist([&] {
      termios mode{};
      do {
        std::this_thread::yield();
        ::tcgetattr(terminal_, &mode);
      } while ((mode.c_lflag & static_cast<tcflag_t>(ICANON)) != 0);
      EXPECT_TRUE(write_all(ours_, keys, "keys"));
    });
    const auto line = editor_->read("> ");
    if (line) editor_->remember(*line);
    return line.value_or("(end)");
  }

  using Names = std::vector<std::string>;
  int ours_ = -1;
  int terminal_ = -1;
  std::optional<LineEditor> editor_;
};

TEST_F(LineEditorTest, KeysMoveAndErase) {
  EXPECT_EQ(typed("status\r"), "status");
  EXPECT_EQ(typed("ac\x1b[Db\r"), "abc") << "left";
  EXPECT_EQ(typed("xabc\x01\x1b[3~\r"), "abc") << "to the front, delete";
  EXPECT_EQ(typed("zo\xc3\xa9\x7f\r").substr(0, 2), "zo");
  EXPECT_EQ(typed("stop all\x17run\r"), "stop run") << "Ctrl-W";
}

TEST_F(LineEditorTest, TheArrowsRecallWhatWasTyped) {
  EXPECT_EQ(typed("status\r"), "status");
  EXPECT_EQ(typed("stop run\r"), "stop run");
  EXPECT_EQ(typed("\x1b[A\r"), "stop run");
  EXPECT_EQ(typed("\x1b[A\x1b[A\r"), "status") << "the same twice is there once";
}

TEST_F(LineEditorTest, TabCompletesAndInterruptBeginsANewLine) {
  EXPECT_EQ(typed("stat\t\r"), "status ");
  EXPECT_EQ(typed("sta\trt\r"), "start") << "two words begin so";
  EXPECT_EQ(typed("abc\x03stop\r"), "stop");
  EXPECT_EQ(typed("\x04"), "(end)");
}

TEST(Completion, AddsWhatAllWordsHave) {
  EXPECT_EQ(common_rest("sta", {"start", "status", "stop"}), "");
  EXPECT_EQ(common_rest("s", {"start", "status"}), "ta");
  EXPECT_EQ(common_rest("stat", {"start", "status", "stop"}), "us ");
  EXPECT_EQ(common_rest("status", {"status"}), " ");
  EXPECT_EQ(common_rest("x", {"start"}), "");
  EXPECT_EQ(common_rest("", {}), "");
}

}  // namespace
}  // namespace trainward::ctl
