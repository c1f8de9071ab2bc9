#include "supervisor/courier/upload/hub/card.hpp"

#include <fmt/format.h>

#include "common/base/text.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::string_view begin_mark =
    "<!-- trainward: kept up to date from here on; write above or below -->";
constexpr std::string_view end_mark = "<!-- trainward: to here -->";

struct Card {
  std::string_view head;  // with its "---" lines; may be empty
  std::string_view body;
};

Card card_in(std::string_view text) {
  constexpr std::string_view fence = "---\n";
  if (!text.starts_with(fence)) return {{}, text};
  const auto end = text.find("\n---\n", fence.size() - 1);
  if (end == std::string_view::npos) return {{}, text};
  const auto size = end + 1 + fence.size();
  return {text.substr(0, size), text.substr(size)};
}

std::string ours(std::string_view body) {
  return fmt::format("{}\n\n{}\n\n{}\n", begin_mark, trim(body), end_mark);
}

// Inside a table a bar would begin the next cell, and "<" a tag or a mark.
std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : clean(text)) {
    if (c == '|' || c == '<' || c == '`' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

}  // namespace

std::string plain_card(const Package& package, const Repository& at, std::string_view folder) {
  std::uint64_t bytes = 0;
  for (const File& file : package.files) bytes += static_cast<std::uint64_t>(file.size);
  std::string text = "---\ntags:\n- checkpoint\n- trainward\n---\n\n";
  text += fmt::format("# {}\n\nCheckpoints of a training run, brought here by Trainward.\n\n",
                      cell(package.program));
  text += "| | |\n|---|---|\n";
  text += fmt::format("| newest checkpoint | {} |\n", cell(package.name));
  text += fmt::format("| step | {} |\n", package.step);
  text += fmt::format("| size | {} in {} |\n", human_bytes(bytes),
                      count(static_cast<std::int64_t>(package.files.size()), "file"));
  if (!folder.empty()) text += fmt::format("| folder | {} |\n", cell(folder));
  text += fmt::format(
      "\n`latest.json` names the newest checkpoint; the record beside its folder has size and "
      "SHA-256 of each file.\n\n```console\n$ hf download {} --local-dir checkpoint\n```\n",
      at.id);
  return text;
}

std::optional<std::string> merged_card(const std::optional<std::string>& there,
                                       std::string_view text) {
  const Card card = card_in(text);
  const std::string part = ours(card.body);
  if (!there || trim(*there).empty()) return fmt::format("{}\n{}", card.head, part);
  const auto begin = there->find(begin_mark);
  const auto end = begin == std::string::npos ? begin : there->find(end_mark, begin);
  if (end == std::string::npos) return std::nullopt;
  const auto after = end + end_mark.size() + 1;
  std::string merged = there->substr(0, begin) + part;
  if (after < there->size()) merged += there->substr(after);
  if (merged == *there) return std::nullopt;
  return merged;
}

}  // namespace trainward::upload::hub
