#include "supervisor/evidence/excerpt/log_excerpt.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/base/utf8.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

class LogExcerpt : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  void number_lines(const std::string& name, int count) const {
    std::string text;
    for (int i = 1; i <= count; ++i) text += fmt::format("line {}\n", i);
    write(name, text);
  }
  [[nodiscard]] json::object cut(const std::string& location, const std::string& text,
                                 int around) const {
    const json::object why{
        {"attempt", json::object{{"attempt", 7}, {"folder", folder_.path().string()}}},
        {"evidence", json::array{json::object{{"location", "a rule"}, {"text", "x"}},
                                 json::object{{"location", location}, {"text", text}}}}};
    const json::value log = log_excerpt(why, around);
    return log.is_object() ? log.get_object() : json::object{};
  }
  static std::string lines(const json::object& log) { return json::serialize(log.at("lines")); }

  TemporaryFolder folder_;
};

TEST_F(LogExcerpt, IsCutAroundTheLineThatDecided) {
  number_lines("stderr.log", 300);
  const auto log = cut("stderr.log:117", "line 117", 2);
  EXPECT_EQ(log.at("stream"), "stderr");
  EXPECT_EQ(log.at("attempt"), 7);
  EXPECT_EQ(log.at("first_line"), 115);
  EXPECT_EQ(log.at("deciding_line"), 117);
  EXPECT_EQ(lines(log), R"(["line 115","line 116","line 117","line 118","line 119"])");
  EXPECT_EQ(lines(cut("stderr.log:1", "line 1", 1)), R"(["line 1","line 2"])");
  EXPECT_EQ(lines(cut("stderr.log:300", "line 300", 1)), R"(["line 299","line 300"])");
  EXPECT_EQ(cut("stderr.log:150", "line 150", 1'000'000).at("lines").as_array().size(), 81U);
}

// A log of which only the end was read, and that has grown since.
TEST_F(LogExcerpt, FindsTheLineWhereItStandsNow) {
  number_lines("stdout.log", 300);
  const auto log = cut("stdout.log:120", "line 117", 1);
  EXPECT_EQ(log.at("stream"), "stdout");
  EXPECT_EQ(log.at("deciding_line"), 117);
  EXPECT_EQ(cut("stdout.log:120", "nowhere", 1).at("deciding_line"), 120);
}

TEST_F(LogExcerpt, ShowsTheLastLinesWhereNoneDecided) {
  number_lines("stdout.log", 9);
  write("stderr.log", "");
  const auto log = cut("", "", 2);
  EXPECT_EQ(log.at("stream"), "stdout");
  EXPECT_EQ(log.at("first_line"), 8);
  EXPECT_TRUE(log.at("deciding_line").is_null());
  EXPECT_EQ(lines(log), R"(["line 8","line 9"])");
  EXPECT_EQ(lines(cut("stderr.log:4", "gone", 2)), lines(log)) << "that log was emptied";
}

TEST_F(LogExcerpt, IsNothingWithoutALog) {
  EXPECT_TRUE(cut("stderr.log:1", "x", 9).empty());
  EXPECT_TRUE(log_excerpt({{"attempt", nullptr}}, 9).is_null());
}

// What a worker may have put in the place of its log.
TEST_F(LogExcerpt, WaitsForNoPipeAndLeavesNoFolder) {
  ASSERT_EQ(::mkfifo((folder_.path() / "stderr.log").c_str(), 0600), 0);
  EXPECT_TRUE(cut("stderr.log:1", "x", 9).empty());
  write("secret", "key\n");
  EXPECT_TRUE(cut("../secret:1", "key", 9).empty());
  EXPECT_TRUE(cut("secret:1", "key", 9).empty());
}

TEST_F(LogExcerpt, IsSafeToShowWhateverTheBytes) {
  write("stderr.log",
        "\x1b[31mred\x1b[0m\n\x1b]0;title\x07named\n\xff\xfe\x01\tend\r\n"
        "10%\r20%\rout of memory\r\x1b[K\n<script>\n\x1b");
  const auto log = cut("stderr.log:4", "out of memory", 9);
  EXPECT_EQ(lines(log), R"(["red","named","??? end","out of memory","<script>",""])");
  write("stderr.log", std::string(3'000'000, 'x') + "\n" + std::string(90'000, '\xc3') + "\n");
  const auto large = cut("stderr.log:1", "", 40);
  std::size_t bytes = 0;
  for (const json::value& line : large.at("lines").as_array()) {
    EXPECT_TRUE(is_utf8(view(line.get_string())));
    bytes += line.get_string().size();
  }
  EXPECT_LE(bytes, 65'536U);
}

}  // namespace
}  // namespace trainward
