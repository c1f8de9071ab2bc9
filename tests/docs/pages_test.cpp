// The pages a user reads: links lead somewhere, tables are tables, nothing stands there twice.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

Lines lines_of(std::istream&& text) {
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// What is code is no prose: fenced blocks become empty lines.
Lines without_code(Lines lines) {
  bool code = false;
  for (std::string& line : lines) {
    const bool fence = line.starts_with("```");
    if (fence) code = !code;
    if (fence || code) line.clear();
  }
  return lines;
}

bool is_row(const std::string& line) { return line.starts_with("|"); }

// Bars that part cells; `a\|b` and bars in code have a backslash before them.
std::ptrdiff_t bars(const std::string& row) {
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '|' && (i == 0 || row[i - 1] != '\\')) ++count;
  }
  return count;
}

std::vector<std::string> faults_of_tables(const Lines& lines) {
  static const std::regex separator(R"(\|(\s*:?-+:?\s*\|)+)");
  std::vector<std::string> faults;
  const auto fault = [&](std::size_t line, const char* what) {
    faults.push_back(std::to_string(line + 1) + ": " + what);
  };
  std::size_t head = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_row(lines[i])) {
      if (i > 0 && is_row(lines[i - 1]) && !lines[i].empty()) fault(i, "text glued to a table");
      continue;
    }
    const bool first = i == 0 || !is_row(lines[i - 1]);
    if (first) {
      head = i;
      if (i > 0 && !lines[i - 1].empty()) fault(i, "a table glued to text");
      if (i + 1 >= lines.size() || !std::regex_match(lines[i + 1], separator)) {
        fault(i, "a table without a separator row");
      }
    } else if (bars(lines[i]) != bars(lines[head])) {
      fault(i, "another number of cells than the table's head");
    }
  }
  return faults;
}

std::vector<std::string> faults_of_headings(const Lines& lines) {
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("#")) continue;
    const bool alone =
        (i == 0 || lines[i - 1].empty()) && (i + 1 == lines.size() || lines[i + 1].empty());
    if (!alone) faults.push_back(std::to_string(i + 1) + ": a heading glued to text");
  }
  return faults;
}

// Long ones, by their first words: what was pasted twice is often reworded at its end.
std::vector<std::string> doubled(const Lines& lines) {
  constexpr std::size_t long_enough = 60;
  std::map<std::string, std::size_t> seen;
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() < long_enough || is_row(lines[i])) continue;
    const auto [earlier, is_new] = seen.emplace(lines[i].substr(0, long_enough), i + 1);
    if (!is_new) {
      faults.push_back(std::to_string(i + 1) + ": begins as line " +
                       std::to_string(earlier->second));
    }
  }
  return faults;
}

// As web pages of repositories make them: lower case, spaces to dashes, marks left out.
std::set<std::string> anchors_of(const Lines& lines) {
  std::set<std::string> anchors;
  for (const std::string& line : lines) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find_first_not_of('#') + 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == ' ') {
        anchor += '-';
      } else if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80) {
        anchor += static_cast<char>(std::tolower(byte));
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

std::vector<std::string> dead_links(const fs::path& page, const Lines& lines) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    for (std::sregex_iterator it(line.begin(), line.end(), link), end; it != end; ++it) {
      const std::string target = (*it)[1];
      if (target.find("://") != std::string::npos) continue;
      const auto hash = target.find('#');
      const std::string file = target.substr(0, hash);
      const fs::path path = file.empty() ? page : page.parent_path() / file;
      const bool there = fs::exists(path);
      const bool anchored =
          hash == std::string::npos || !there ||
          anchors_of(without_code(lines_of(std::ifstream(path)))).contains(target.substr(hash + 1));
      if (!there || !anchored) faults.push_back(std::to_string(i + 1) + ": no " + target);
    }
  }
  return faults;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (const char* folder : {"", "docs"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_FOLDER) / folder)) {
      if (entry.path().extension() == ".md") found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Pages : public testing::TestWithParam<fs::path> {};

INSTANTIATE_TEST_SUITE_P(Docs, Pages, testing::ValuesIn(pages()), [](const auto& info) {
  // With the folder: README.md is in both.
  std::string name = info.param.lexically_relative(SOURCE_FOLDER).replace_extension().string();
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
});

TEST_P(Pages, AreWhole) {
  const Lines lines = without_code(lines_of(std::ifstream(GetParam())));
  EXPECT_THAT(faults_of_tables(lines), IsEmpty());
  EXPECT_THAT(faults_of_headings(lines), IsEmpty());
  EXPECT_THAT(doubled(lines), IsEmpty());
  EXPECT_THAT(dead_links(GetParam(), lines), IsEmpty());
}

TEST(PagesChecker, FindsWhatIsWrong) {
  const auto page = [](const char* text) { return lines_of(std::istringstream(text)); };
  EXPECT_THAT(faults_of_tables(page("text\n| a | b |\n| c | d |\nmore")),
              ElementsAre("2: a table glued to text", "2: a table without a separator row",
                          "4: text glued to a table"));
  EXPECT_THAT(faults_of_tables(page("| a | b |\n|---|---|\n| c |\n\n| `a\\|b` | c |\n|:--|--:|")),
              ElementsAre("3: another number of cells than the table's head"));
  EXPECT_THAT(faults_of_headings(page("text\n## Head\n\ntext")),
              ElementsAre("2: a heading glued to text"));
  const std::string pasted(80, 'x');
  EXPECT_THAT(doubled(page((pasted + " one\n\n" + pasted + " two").c_str())),
              ElementsAre("3: begins as line 1"));
  const fs::path readme = fs::path(SOURCE_FOLDER) / "README.md";
  EXPECT_THAT(dead_links(readme, page("[a](docs/none.md) [b](docs/cli.md#no-such-part) [c](docs)")),
              ElementsAre("1: no docs/none.md", "1: no docs/cli.md#no-such-part"));
}

}  // namespace
