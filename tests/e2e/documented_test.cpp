// What the pages tell a reader to type exists: commands and options of our programs, and every
// configuration that is shown whole.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// What --help of a command lists.
struct Help {
  std::set<std::string> options;
  std::set<std::string> subcommands;
};

Help parse(const std::string& text) {
  static const std::regex option(R"((^|[\s,])(--[a-z][a-z0-9-]*))");
  Help help;
  for (std::sregex_iterator it(text.begin(), text.end(), option), end; it != end; ++it) {
    help.options.insert((*it)[2]);
  }
  std::istringstream in(text);
  bool listed = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Subcommands:")) listed = true;
    const Words words = words_of(line);
    if (listed && line.starts_with("  ") && line[2] != ' ') help.subcommands.insert(words.at(0));
  }
  return help;
}

struct Page {
  std::string name;
  Words code;            // code spans, and lines of fenced blocks
  Words configurations;  // fenced YAML that begins a configuration
};

Page read_page(const fs::path& file) {
  static const std::regex span(R"(`([^`]+)`)");
  Page page{file.filename().string(), {}, {}};
  std::ifstream in(file);
  bool fenced = false;
  std::string block;
  bool yaml = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      if (fenced && yaml && block.starts_with("programs:")) page.configurations.push_back(block);
      fenced = !fenced;
      yaml = line == "```yaml";
      block.clear();
    } else if (fenced) {
      page.code.push_back(line);
      block += line + "\n";
    } else {
      for (std::sregex_iterator it(line.begin(), line.end(), span), end; it != end; ++it) {
        page.code.push_back((*it)[1]);
      }
    }
  }
  return page;
}

std::vector<Page> pages() {
  std::vector<Page> pages{read_page(fs::path(SOURCE_FOLDER) / "README.md")};
  for (const auto& file : fs::directory_iterator(fs::path(SOURCE_FOLDER) / "docs")) {
    if (file.path().extension() == ".md") pages.push_back(read_page(file.path()));
  }
  std::sort(pages.begin(), pages.end(),
            [](const Page& a, const Page& b) { return a.name < b.name; });
  return pages;
}

class Documented : public World {
 protected:
  const Help& help(const std::string& command) {
    auto found = helps_.find(command);
    if (found == helps_.end()) {
      Words argv = words_of(command);
      const std::string name = argv[0];
      argv.erase(argv.begin());
      argv.emplace_back("--help");
      found = helps_.emplace(command, parse(run(name, argv).out)).first;
    }
    return found->second;
  }

  // "trainwardctl ckpt list|verify --json FOLDER": what of it does not exist.
  Words unknown_in(const std::string& usage) {
    Words unknown;
    Words argv = words_of(usage);
    std::vector<std::string> commands{fs::path(argv[0]).filename().string()};
    std::vector<std::string> above;
    bool arguments = false;  // no more commands
    for (std::size_t i = 1; i < argv.size(); ++i) {
      std::string word = argv[i];
      if (word.starts_with('#') || word == "|" || word == "&&" || word == ">" || word == ";") break;
      static const std::regex option(R"(\[?(--[a-z][a-z0-9-]*).*)");
      static const std::regex names(R"([a-z]+(\|[a-z]+)*)");
      std::smatch match;
      if (std::regex_match(word, match, option)) {
        const auto has = [&](const std::string& command) {
          return help(command).options.contains(match[1]);
        };
        if (std::none_of(commands.begin(), commands.end(), has) &&
            std::none_of(above.begin(), above.end(), has)) {
          unknown.push_back(match[1]);
        }
      } else if (!arguments && std::regex_match(word, names) &&
                 !help(commands[0]).subcommands.empty()) {
        std::vector<std::string> next;
        std::istringstream in(word);
        for (std::string name; std::getline(in, name, '|');) {
          if (!help(commands[0]).subcommands.contains(name)) unknown.push_back(name);
          next.push_back(commands[0] + " " + name);
        }
        if (!unknown.empty()) return unknown;
        above.insert(above.end(), commands.begin(), commands.end());
        commands = next;
      } else if (!word.starts_with('-')) {
        arguments = true;
      }
    }
    return unknown;
  }

 private:
  std::map<std::string, Help> helps_;
};

TEST_F(Documented, CommandsAndOptionsExist) {
  static const std::regex usage(
      R"((trainwardctl|trainwardd|trainward-probe|trainward-worker)( .*)?)");
  std::size_t seen = 0;
  Words wrong;
  for (const Page& page : pages()) {
    for (std::string code : page.code) {
      code.erase(0, code.find_first_not_of("$ "));
      code = std::regex_replace(code, std::regex(R"(^(sudo |build/release/bin/|/usr/bin/)+)"), "");
      if (!std::regex_match(code, usage)) continue;
      ++seen;
      for (const std::string& word : unknown_in(code)) {
        wrong.push_back(page.name + ": `" + code + "`: no " + word);
      }
    }
  }
  EXPECT_GT(seen, 50U);
  EXPECT_THAT(wrong, IsEmpty());
}

TEST_F(Documented, ConfigurationsAreValid) {
  std::size_t seen = 0;
  for (const Page& page : pages()) {
    for (const std::string& text : page.configurations) {
      SCOPED_TRACE(page.name + ":\n" + text);
      ++seen;
      write("shown.yaml", text);
      // Files, folders and users of the reader are not here.
      std::istringstream problems(ctl({"config", "check", "shown.yaml"}).out);
      for (std::string problem; std::getline(problems, problem);) {
        EXPECT_THAT(problem, ::testing::AnyOf(::testing::HasSubstr("no such f"),
                                              ::testing::HasSubstr("no such script"),
                                              ::testing::HasSubstr("is not there yet"),
                                              ::testing::HasSubstr("there is no user "),
                                              ::testing::HasSubstr(": ok,")));
      }
    }
  }
  EXPECT_GT(seen, 1U);
}

// The tables of three policies are what the simulation gives today.
TEST_F(Documented, TheSimulationsFiguresAreItsOwn) {
  const std::string page =
      read_file(fs::path(SOURCE_FOLDER) / "docs/simulation.md", 1 << 20).value();
  static const std::regex shown("`trainward-sim ([^`]+)`\n\n```\n([^`]+)```");
  std::size_t seen = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), shown), end; it != end; ++it) {
    const std::string printed = run("trainward-sim", words_of((*it)[1])).out;
    EXPECT_THAT(printed, ::testing::EndsWith("\n\n" + (*it)[2].str())) << (*it)[1];
    ++seen;
  }
  EXPECT_EQ(seen, 4U);
}

TEST_F(Documented, WhatIsWrongIsFound) {
  EXPECT_THAT(unknown_in("trainwardctl status --json run"), IsEmpty());
  EXPECT_THAT(unknown_in("trainwardctl --json ckpt list|verify run"), IsEmpty());
  EXPECT_THAT(unknown_in("trainwardctl stauts"), ::testing::ElementsAre("stauts"));
  EXPECT_THAT(unknown_in("trainwardctl status --jsno"), ::testing::ElementsAre("--jsno"));
  EXPECT_THAT(unknown_in("trainwardd --once --twice a.yaml # --thrice"),
              ::testing::ElementsAre("--twice"));
}

}  // namespace
}  // namespace trainward::e2e
