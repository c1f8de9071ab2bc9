// docs/config.md says of every setting what the table says: type, range, default and what it is.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "common/os/file.hpp"
#include "common/settings/worker_settings.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::settings {
namespace {

std::string number(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::max()) return "2^63 - 1";
  if (value == ranges::billion) return "10^9";
  return fmt::to_string(value);
}

std::string number(double value) {
  if (value == 1e9) return "10^9";
  if (value == 1e-8) return "1e-8";
  return value == 1e-6 ? "1e-6" : fmt::format("{}", value);
}

struct Cells {
  std::string type, range, fallback;
};

std::string words(std::span<const std::string_view> all) {
  return fmt::format("`{}`", fmt::join(all, "` `"));
}

// With what a map says by being there.
WorkerSettings defaults_of(const Setting& setting) {
  WorkerSettings values;
  for (const Map& map : maps) {
    if (map.section == setting.section) map.given(values);
  }
  return values;
}

struct Row {
  const Setting& setting;
  const WorkerSettings defaults = defaults_of(setting);

  Cells operator()(const Whole& of) const {
    const std::string unit = setting.unit.empty() ? "" : fmt::format(" ({})", setting.unit);
    return {"whole" + unit, fmt::format("{} to {}", number(of.range.min), number(of.range.max)),
            number(get(defaults, of))};
  }
  Cells operator()(const Real& of) const {
    return {"number",
            fmt::format("{}{} to {}{}", of.range.above_min ? "above " : "", number(of.range.min),
                        of.range.below_max ? "below " : "", number(of.range.max)),
            number(of.at.of(defaults))};
  }
  Cells operator()(const Flag& of) const {
    return {"boolean", "", of.at.of(defaults) ? "true" : "false"};
  }
  Cells operator()(const Word& of) const {
    const bool preset = of.words.data() == model_names.data();
    return {preset ? "preset" : words(of.words), preset ? "see below" : "",
            fmt::format("`{}`", of.at.of(defaults))};
  }
  Cells operator()(const Choice& of) const {
    const auto fallback = static_cast<std::size_t>(of.at.of(defaults));
    return {words(of.words), "", fmt::format("`{}`", of.words[fallback])};
  }
  Cells operator()(const Size& of) const {
    return {"size",
            fmt::format("{} to {}", yaml::size_text(of.range.min), yaml::size_text(of.range.max)),
            yaml::size_text(static_cast<std::int64_t>(of.at.of(defaults)))};
  }
  Cells operator()(const Text&) const { return {"text", "", "found out"}; }
  Cells operator()(const Texts& of) const {
    const auto& texts = of.at.of(defaults);
    return {of.alone.empty() ? "list of text" : fmt::format("list, or `{}`", of.alone),
            of.words.empty() ? fmt::format("0 to {}", of.most) : words(of.words),
            texts.empty() ? "none" : fmt::format("`[{}]`", fmt::join(texts, ", "))};
  }
  Cells operator()(const Names& of) const { return {"map of text", words(of.names), "empty"}; }
  Cells operator()(const Variables& of) const {
    return {"map of text, numbers, booleans", fmt::format("{} entries", of.most), "empty"};
  }
  Cells operator()(const Place& of) const {
    return {of.folder ? "folder" : "file", "exists", "none"};
  }
  Cells operator()(const Path& of) const {
    const std::string& fallback = of.at.of(defaults);
    return {fmt::format("`{}` or path", of.word), "exists",
            fallback.empty() ? "none" : fmt::format("`{}`", fallback)};
  }
  Cells operator()(const Paths& of) const {
    if (!of.needed) return {"list of paths", "each exists", "none"};
    return {"list of paths", "at least one, each exists", fmt::format("`[{}]`", of.fallback)};
  }
  Cells operator()(const Mesh& of) const {
    return {"`[rows, columns]`", fmt::format("at most {} in all", of.most), "`[1, 1]`"};
  }
  Cells operator()(const Options& of) const {
    return {"map", fmt::format("{} entries", of.most), "empty"};
  }
};

constexpr std::array<std::string_view, 3> must{"hidden", "layers", "heads"};

// How the setting's line begins; more may be said after the sentence.
std::string documented(const Setting& setting) {
  const auto [type, range, fallback] = std::visit(Row{setting}, setting.type);
  std::string name = fmt::format("{}.{}", setting.section, setting.key);
  if (setting.section.starts_with(training)) name.erase(0, training.size() + 1);
  if (setting.section == llama && std::find(must.begin(), must.end(), setting.key) != must.end()) {
    return fmt::format("| `{}` | {} | {} | required | {}", name, type, range, setting.about);
  }
  return fmt::format("| `{}` | {} | {}| {} | {}", name, type, range.empty() ? "" : range + " ",
                     fallback, setting.about);
}

// The lines of the tables of the worker's settings, and their keys.
std::vector<std::string> lines_of_the_page() {
  const auto page = read_file(SOURCE_FOLDER "/docs/config.md", 1 << 20);
  EXPECT_TRUE(page);
  const std::string& text = *page;
  const auto begin = text.find("### `training_config`");
  std::istringstream part(text.substr(begin, text.find("#### Plugins") - begin));
  std::vector<std::string> lines;
  for (std::string line; std::getline(part, line);) {
    if (line.starts_with("| `")) lines.push_back(line);
  }
  return lines;
}

TEST(SettingsPage, HasEverySettingAsItIs) {
  std::vector<std::string> left = lines_of_the_page();
  for (const Setting& setting : worker_settings) {
    const std::string expected = documented(setting);
    const auto found = std::find_if(left.begin(), left.end(), [&](const std::string& line) {
      // The word for a device's default hangs on another key.
      return line.starts_with(
          setting.key == "device" ? "| `device_config.device` | `cpu` `pjrt` | | `cpu`" : expected);
    });
    EXPECT_NE(found, left.end()) << "docs/config.md lacks a line that begins with\n" << expected;
    if (found != left.end()) left.erase(found);
  }
  EXPECT_THAT(left, testing::ElementsAre(testing::StartsWith("| `device_config.host` |")))
      << "what else is in the tables is no setting of the worker";
}

TEST(SettingsPage, NamesEveryModel) {
  const auto page = read_file(SOURCE_FOLDER "/docs/config.md", 1 << 20);
  ASSERT_TRUE(page);
  for (const std::string_view name : model_names) {
    EXPECT_NE(page->find(fmt::format("`{}`", name)), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace trainward::settings
