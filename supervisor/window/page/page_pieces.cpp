#include "supervisor/window/page/page_pieces.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/base/columns.hpp"
#include "common/base/text.hpp"
#include "common/base/time.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::page {

std::string cut(std::string_view text, std::size_t longest) {
  const std::size_t width = display_width(text);
  if (width <= longest) return std::string(text);
  return fmt::format("{} {} more characters", shortened(text, longest),
                     views::grouped(static_cast<std::int64_t>(width - longest)));
}

Html moment(std::int64_t wall_ms) {
  if (wall_ms <= 0) return "-";
  return element("time", {{"datetime", iso8601(wall_ms)}}, {views::utc_text(wall_ms)});
}

std::string coarse_age(std::int64_t ms) {
  return ms < 60'000 ? "less than a minute ago" : views::age(ms);
}

Html moment_and_age(std::int64_t wall_ms, std::int64_t now_ms) {
  if (wall_ms <= 0) return "-";
  return join({moment(wall_ms), " ", muted("(" + coarse_age(now_ms - wall_ms) + ")")});
}

std::int64_t ms_of(const json::object& row, std::string_view key) {
  return views::wall_ms_of(string_or(row, key, "")).value_or(0);
}

std::string_view tone_class(core::Tone tone) {
  switch (tone) {
    case core::Tone::good:
      return "tone-good";
    case core::Tone::changing:
      return "tone-changing";
    case core::Tone::quiet:
      return "tone-quiet";
    case core::Tone::bad:
      break;
  }
  return "tone-bad";
}

Html toned(core::Tone tone, std::string_view word) {
  return element("span", {{"class", tone_class(tone)}},
                 {element("span", {{"class", "glyph"}, {"aria-hidden", "true"}},
                          {views::glyph_of(tone).character}),
                  " ", word});
}

Html muted(std::string_view text) { return element("span", {{"class", "muted"}}, {text}); }
Html mono(std::string_view text) { return element("span", {{"class", "mono"}}, {text}); }
Html code(std::string_view text) { return element("code", {}, {text}); }

std::string number_or_dash(const json::object& row, std::string_view key) {
  const auto number = get_int(row, key);
  return number ? views::grouped(*number) : "-";
}

std::string measure_or_dash(const json::object& row, std::string_view key) {
  const auto number = get_number(row, key);
  return number && std::isfinite(*number) ? number_text(*number) : "-";
}

// More columns than a phone has room for: a row is a card there, its cells below one another.
constexpr std::size_t most_beside = 4;

void Table::add(std::vector<Html> cells, std::string_view key) {
  Html row;
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    std::vector<Attribute> attributes{{"data-label", columns_[i].title}};
    if (i == 0) {
      attributes.push_back({"scope", "row"});
      row += element("th", attributes, {cells[i]});
    } else {
      if (columns_[i].number) attributes.push_back({"class", "num"});
      row += element("td", attributes, {cells[i]});
    }
  }
  body_ += key.empty() ? element("tr", {}, {row}) : element("tr", {{"id", key}}, {row});
  ++rows_;
}

Html Table::html() const {
  Html heads;
  for (const Column& column : columns_) {
    heads += column.number ? element("th", {{"scope", "col"}, {"class", "num"}}, {column.title})
                           : element("th", {{"scope", "col"}}, {column.title});
  }
  return element(
      "div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", caption_}},
      {element(
          "table", {{"class", columns_.size() > most_beside ? "stacks" : "plain"}},
          {element("caption", {}, {caption_}), element("thead", {}, {element("tr", {}, {heads})}),
           element("tbody", {}, {body_})})});
}

Html facts(std::initializer_list<std::pair<std::string_view, Html>> pairs) {
  Html list;
  for (const auto& [term, text] : pairs) {
    if (text.empty()) continue;
    list += element("dt", {}, {term});
    list += element("dd", {}, {text});
  }
  return element("dl", {}, {list});
}

Html details(std::string_view summary, std::string_view key, const Html& content) {
  return element("details", {{"data-key", key}}, {element("summary", {}, {summary}), content});
}

Html titled(std::string_view id, std::string_view title, const Html& content) {
  return join({element("h2", {{"id", std::string(id) + "-title"}}, {title}), content});
}

}  // namespace trainward::page
