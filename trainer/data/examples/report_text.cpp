#include "trainer/data/examples/report_text.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "common/base/text.hpp"

namespace trainward::trainer {
namespace {

std::string line(std::string_view name, std::int64_t number, std::string_view note = {}) {
  return fmt::format("  {:<24}{:>12}{}{}\n", name, number, note.empty() ? "" : "  ", note);
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// Lines stay lines; everything else that a terminal would obey does not.
std::string made_safe(std::string_view text) {
  std::string safe;
  for (bool first = true; first || !text.empty(); first = false) {
    const std::size_t end = text.find('\n');
    safe += clean(text.substr(0, end));
    if (end == std::string_view::npos) break;
    safe += '\n';
    text.remove_prefix(end + 1);
  }
  return safe;
}

// The text between two places of the same tokens: what more tokens add to what fewer give, since
// some vocabularies decode a beginning otherwise than the same tokens behind others.
class Decoded {
 public:
  Decoded(const Tokenizer& tokenizer, std::span<const TokenId> ids)
      : tokenizer_(tokenizer), ids_(ids) {}

  Result<std::string> up_to(std::size_t end) {
    auto text = tokenizer_.decode(ids_.first(end));
    if (!text) return propagate(text);
    std::string more = text->size() >= told_ ? text->substr(told_) : std::string();
    told_ = std::max(told_, text->size());
    return more;
  }

 private:
  const Tokenizer& tokenizer_;
  std::span<const TokenId> ids_;
  std::size_t told_ = 0;
};

// Appends the stretches of the tokens from `from` to `to`.
Status add_stretches(const Example& example, std::size_t from, std::size_t to,
                     const Tokenizer& tokenizer, std::vector<ShownStretch>& out) {
  Decoded decoded(tokenizer, std::span(example.ids).subspan(from, to - from));
  for (std::size_t at = from; at < to;) {
    std::size_t end = at + 1;
    while (end < to && example.targets[end] == example.targets[at]) ++end;
    auto text = decoded.up_to(end - from);
    if (!text) return propagate(text);
    out.push_back({made_safe(*text), example.targets[at] != 0});
    at = end;
  }
  return {};
}

}  // namespace

std::string report_text(const LoadReport& report) {
  std::string text = line("examples", report.examples);
  text += line("tokens", report.tokens);
  text += line("trained on", report.targets, percent(report.targets, report.tokens));
  text += line("tokens, median", report.median);
  text += line("  90 % have at most", report.ninety_percent);
  text += line("  99 % have at most", report.ninety_nine_percent);
  text += line("  longest", report.longest);
  if (report.cut > 0) text += line("cut to a row", report.cut);
  if (report.too_long > 0) text += line("left out, too long", report.too_long);
  if (report.without_target > 0) text += line("left out, no answer fits", report.without_target);
  if (report.bad_rows > 0) text += line("left out, bad rows", report.bad_rows);
  return text;
}

json::object report_json(const LoadReport& report) {
  json::array unread;
  for (const Unread& file : report.unread) {
    unread.push_back(json::object{{"file", file.path.string()}, {"reason", file.reason}});
  }
  json::object object{{"examples", report.examples},
                      {"tokens", report.tokens},
                      {"targets", report.targets},
                      {"median", report.median},
                      {"p90", report.ninety_percent},
                      {"p99", report.ninety_nine_percent},
                      {"longest", report.longest},
                      {"cut", report.cut},
                      {"too_long", report.too_long},
                      {"without_target", report.without_target},
                      {"special_in_text", report.special_in_text},
                      {"without_beginning", report.without_beginning},
                      {"beginning_twice", report.beginning_twice},
                      {"bad_rows", report.bad_rows},
                      {"files_left_out", std::move(unread)}};
  if (report.bad_rows > 0) object["first_bad_row"] = report.first_bad_row;
  return object;
}

Result<std::vector<ShownStretch>> show(const Example& example, const Tokenizer& tokenizer,
                                       std::size_t most) {
  std::vector<ShownStretch> stretches;
  const std::size_t all = example.ids.size();
  const std::size_t front = all <= most ? all : most / 2;
  if (auto ok = add_stretches(example, 0, front, tokenizer, stretches); !ok) return propagate(ok);
  if (front < all) {
    stretches.push_back({fmt::format(" … {} left out … ",
                                     count(static_cast<std::int64_t>(all - 2 * front), "token")),
                         false});
    if (auto ok = add_stretches(example, all - front, all, tokenizer, stretches); !ok) {
      return propagate(ok);
    }
  }
  return stretches;
}

std::string shown_text(const std::vector<ShownStretch>& stretches, std::string_view before,
                       std::string_view after) {
  std::string text;
  for (const ShownStretch& stretch : stretches) {
    text +=
        stretch.trained ? std::string(before) + stretch.text + std::string(after) : stretch.text;
  }
  return text;
}

}  // namespace trainward::trainer
