// What the sections of a page are made of: times, numbers, tables, words with their tone. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/window/page/html.hpp"

namespace trainward::page {

// At most so many characters of somebody's text, and how many more there were.
std::string cut(std::string_view text, std::size_t longest = 600);

// <time datetime="2026-11-20T21:41:07.123Z">2026-11-20 21:41:07 UTC</time>; "-" for 0.
Html moment(std::int64_t wall_ms);
// "3 min ago", to the minute, so that a page that is read again a second later is the same.
std::string coarse_age(std::int64_t ms);
// The moment, and behind it how long ago that was.
Html moment_and_age(std::int64_t wall_ms, std::int64_t now_ms);
std::int64_t ms_of(const json::object& row, std::string_view key);  // of ISO 8601; 0: none

std::string_view tone_class(core::Tone tone);
// A glyph, its colour, and the word.
Html toned(core::Tone tone, std::string_view word);

Html muted(std::string_view text);
Html mono(std::string_view text);
// `command` as code, which a reader may copy.
Html code(std::string_view text);
// "41,200", or "-".
std::string number_or_dash(const json::object& row, std::string_view key);
// A loss: "2.310", or "-".
std::string measure_or_dash(const json::object& row, std::string_view key);

struct Column {
  std::string_view title;
  bool number = false;
};

// A table that a narrow screen scrolls. The first cell of a row is its heading.
class Table {
 public:
  Table(std::string_view caption, std::vector<Column> columns)
      : caption_(caption), columns_(std::move(columns)) {}
  // `key`: an id for the row, unique on the page; empty: none.
  void add(std::vector<Html> cells, std::string_view key = {});
  [[nodiscard]] bool empty() const { return rows_ == 0; }
  [[nodiscard]] Html html() const;

 private:
  std::string caption_;
  std::vector<Column> columns_;
  Html body_;
  std::size_t rows_ = 0;
};

// <dl> of pairs; those without a text are left out.
Html facts(std::initializer_list<std::pair<std::string_view, Html>> pairs);
Html details(std::string_view summary, std::string_view key, const Html& content);

// The inner HTML of a section: its heading and what follows.
Html titled(std::string_view id, std::string_view title, const Html& content);

}  // namespace trainward::page
