#include "supervisor/config/reading/secret_sections.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace trainward::config {
namespace {

using yaml::Node;

template <std::size_t count>
bool among(const std::array<std::string_view, count>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 5> of_all{"notify", "upload", "tracking", "environment",
                                                 "env"};
constexpr std::array<std::string_view, 17> of_no_secret{
    "quiet",     "digest",          "hold",    "repeat",  "no_progress", "log_lines",
    "tiers",     "progress_within", "form",    "every",   "every_steps", "milestones",
    "bandwidth", "window",          "restore", "private", "history"};

// "4x", "22:00-7:00": short, or of digits.
bool looks_harmless(std::string_view text) {
  constexpr std::size_t longest_word = 12;
  constexpr std::size_t longest_amount = 8;
  constexpr std::string_view of_times = "0123456789:- .";
  if (text.find_first_not_of(of_times) == std::string_view::npos) return true;
  if (text.find_first_of(":/@") != std::string_view::npos) return false;
  const bool digits = text.find_first_of("0123456789") != std::string_view::npos;
  return text.size() <= (digits ? longest_amount : longest_word);
}

void mark(Node& node, bool takes_no_secret) {
  node.secret = node.kind != Node::Kind::scalar || !takes_no_secret || !looks_harmless(node.text);
  for (Node& item : node.items) mark(item, takes_no_secret);
  for (yaml::Member& member : node.members) mark(member.value, among(of_no_secret, member.key));
}

void look_for_sections(Node& node, bool is_root) {
  for (yaml::Member& member : node.members) {
    if (among(of_all, member.key) || (is_root && member.key == "tokens")) {
      mark(member.value, false);
    } else {
      look_for_sections(member.value, false);
    }
  }
}

}  // namespace

void mark_secrets(Node& root) { look_for_sections(root, true); }

}  // namespace trainward::config
