#include "supervisor/courier/forms/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/base64.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward::courier {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::size_t longest_plain_header = 200;

bool is_plain_header(std::string_view text) {
  return text.size() <= longest_plain_header && text.find("=?") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
}

}  // namespace

std::string escaped(std::string_view text, std::size_t most,
                    std::string (*escape)(std::string_view character)) {
  std::string out;
  std::size_t fits = 0;  // with the ellipsis behind it
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const std::string next = length == 0 ? "?" : escape(text.substr(0, length));
    if (out.size() + next.size() > most) {
      out.resize(fits);
      return fits + ellipsis.size() <= most ? out + std::string(ellipsis) : out;
    }
    out += next;
    if (out.size() + ellipsis.size() <= most) fits = out.size();
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string slack_character(std::string_view character) {
  if (character == "&") return "&amp;";
  if (character == "<") return "&lt;";
  if (character == ">") return "&gt;";
  return std::string(character);
}

std::string discord_character(std::string_view character) {
  constexpr std::string_view marks = "\\*_~`|>[]()#<-";
  if (character.size() == 1 && marks.find(character) != std::string_view::npos) {
    return "\\" + std::string(character);
  }
  // A mention is only one with the at sign right before its name.
  if (character == "@") return "@\u200b";
  return std::string(character);
}

std::string code_character(std::string_view character) {
  return character == "`" ? "'" : std::string(character);
}

std::string html_character(std::string_view character) {
  if (character == "&") return "&amp;";
  if (character == "<") return "&lt;";
  if (character == ">") return "&gt;";
  if (character == "\"") return "&quot;";
  if (character == "'") return "&#39;";
  return std::string(character);
}

std::string header_text(std::string_view text) {
  const std::string line = clean(text);
  if (is_plain_header(line)) return line;
  // "=?UTF-8?B?" and "?=" are 12 of 75 characters; 45 bytes become 60.
  constexpr std::size_t most_bytes = 45;
  std::string out;
  std::string word;
  const auto finish_word = [&] {
    if (word.empty()) return;
    out += (out.empty() ? "=?UTF-8?B?" : "\n =?UTF-8?B?") + base64(word) + "?=";
    word.clear();
  };
  std::string_view rest = line;
  while (!rest.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_character(rest), 1);
    if (word.size() + length > most_bytes) finish_word();
    word += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  finish_word();
  return out;
}

}  // namespace trainward::courier
