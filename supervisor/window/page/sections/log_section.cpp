// The end of the newest attempt's output. With the script it goes on by itself.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

constexpr std::size_t most_lines = 60;
constexpr std::size_t longest_line = 1000;

// Of a progress bar the state that was written last.
std::string_view last_state(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const auto turned = line.rfind('\r');
  return turned == std::string_view::npos ? line : line.substr(turned + 1);
}

std::string last_lines(std::string_view log) {
  std::vector<std::string_view> lines;
  while (!log.empty()) lines.push_back(take_line(log));
  const auto begin = lines.size() - std::min(lines.size(), most_lines);
  std::string text;
  for (std::size_t i = begin; i < lines.size(); ++i) {
    text += cut(shown_text(last_state(lines[i])), longest_line) + "\n";
  }
  return text;
}

}  // namespace

Html log_section(const Documents& documents) {
  const View& view = documents.view;
  std::string text = last_lines(documents.log);
  if (text.empty()) text = "nothing on stdout yet\n";
  std::vector<Attribute> attributes{{"id", "log-text"},
                                    {"class", "mono"},
                                    {"tabindex", "0"},
                                    {"role", "region"},
                                    {"aria-label", "the last lines of stdout"}};
  Html tools;
  if (!view.still) {
    attributes.push_back({"data-source", Url::path({"v1", "programs", view.program, "log"})});
    attributes.push_back({"data-stream", "stdout"});
    tools = element(
        "div", {{"class", "log-tools"}},
        {element("label", {{"for", "log-search"}}, {"Search"}),
         element("input", {{"type", "search"}, {"id", "log-search"}, {"autocomplete", "off"}}),
         element("button", {{"type", "button"}, {"id", "log-follow"}, {"aria-pressed", "true"}},
                 {"Follow"})});
  }
  Html content = join({tools, element("pre", attributes, {text})});
  if (documents.log_attempt > 0) {
    content += element("p", {},
                       {muted(fmt::format("The last {} lines at most, of attempt {}; all "
                                          "of it: ",
                                          most_lines, documents.log_attempt)),
                        code("trainwardctl tail -f " + cut(view.program, 80))});
  }
  return titled("log", "Log", content);
}

}  // namespace trainward::page
