#include "common/yaml/map_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/base/text.hpp"
#include "common/yaml/scalar.hpp"

namespace trainward::yaml {
namespace {

bool plain(const Node& node) { return node.kind == Node::Kind::scalar && !node.quoted; }

// What YAML 1.1 and Python's reader took for a boolean or a number, and what to write instead.
std::string other_spelling(const Node& node) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> spellings{
      {{"yes", "true"},
       {"on", "true"},
       {"y", "true"},
       {"no", "false"},
       {"off", "false"},
       {"n", "false"},
       {"true", "true"},
       {"false", "false"}}};
  const std::string word = lower_case(node.text);
  for (const auto& [other, ours] : spellings) {
    if (word == other) return fmt::format("; write {}", ours);
  }
  return "";
}

// A secret may have got where a key belongs, one that is a word has not.
bool may_be_shown(const Node& map, std::string_view key) {
  constexpr std::size_t longest_word = 24;
  return !map.secret ||
         (key.size() <= longest_word && std::all_of(key.begin(), key.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
          }));
}

std::string without_underscores(const Node& node) {
  std::string digits = node.text;
  std::erase(digits, '_');
  if (!plain(node) || node.secret || digits == node.text || !looks_like_number(digits)) return "";
  return fmt::format("; write {}", digits);
}

}  // namespace

MapReader::MapReader(const Node& node, std::string path, std::vector<Problem>& problems,
                     std::string_view example)
    : node_(&node), path_(std::move(path)), problems_(&problems) {
  if (node.kind == Node::Kind::map || node.kind == Node::Kind::refused) return;
  problems.push_back(
      {node.mark,
       fmt::format("{}expected a map of keys{}{}, found {}", path_.empty() ? "" : path_ + ": ",
                   example.empty() ? "" : ", such as ", example, describe(node))});
}

const Node* MapReader::take(std::string_view key) {
  known_.push_back(key);
  const Node* found = node_->find(key);
  if (found == nullptr || found->kind == Node::Kind::refused) return nullptr;
  if (found->kind == Node::Kind::null) {
    report(key, *found, "has no value");
    return nullptr;
  }
  return found;
}

void MapReader::need(std::string_view key, std::string_view expected) {
  if (node_->kind != Node::Kind::map || node_->find(key) != nullptr) return;
  problems_->push_back(
      {node_->mark, fmt::format("{}missing key '{}', expected {}",
                                path_.empty() ? "" : path_ + ": ", key, expected)});
}

std::string MapReader::text(std::string_view key, std::string fallback) {
  const Node* node = take(key);
  if (node == nullptr) return fallback;
  const bool scalar = node->kind == Node::Kind::scalar;
  const bool other_type =
      plain(*node) && (looks_like_number(node->text) || parse_boolean(node->text));
  if (!scalar || other_type) {
    report(key, *node,
           fmt::format("expected text, found {}{}", describe(*node),
                       other_type ? "; put it in quotes" : ""));
    return fallback;
  }
  if (node->text.find('\0') != std::string::npos) {
    report(key, *node, "expected text without NUL bytes");
    return fallback;
  }
  return node->text;
}

std::string MapReader::one_of(std::string_view key, std::span<const std::string_view> words,
                              std::string_view fallback) {
  const Node* node = take(key);
  if (node == nullptr) return std::string(fallback);
  if (node->kind == Node::Kind::scalar &&
      std::find(words.begin(), words.end(), node->text) != words.end()) {
    return node->text;
  }
  std::string message =
      fmt::format("expected one of {}, found {}", fmt::join(words, ", "), describe(*node));
  if (const std::string near = nearest(node->text, words); !near.empty()) {
    message += fmt::format("; did you mean '{}'?", near);
  }
  report(key, *node, std::move(message));
  return std::string(fallback);
}

bool MapReader::boolean(std::string_view key, bool fallback) {
  const Node* node = take(key);
  if (node == nullptr) return fallback;
  const auto value = plain(*node) ? parse_boolean(node->text) : std::nullopt;
  if (value) return *value;
  report(key, *node,
         fmt::format("expected true or false, found {}{}", describe(*node), other_spelling(*node)));
  return fallback;
}

std::int64_t MapReader::integer(std::string_view key, std::int64_t fallback, IntegerRange range) {
  const Node* node = take(key);
  if (node == nullptr) return fallback;
  const auto value = plain(*node) ? parse_whole(node->text) : std::nullopt;
  if (value && range.contains(*value)) return *value;
  report(key, *node,
         fmt::format("expected {}, found {}{}", range.text(), describe(*node),
                     without_underscores(*node)));
  return fallback;
}

double MapReader::number(std::string_view key, double fallback, NumberRange range) {
  const Node* node = take(key);
  if (node == nullptr) return fallback;
  const auto value = plain(*node) ? parse_number(node->text) : std::nullopt;
  if (value && range.contains(*value)) return *value;
  report(key, *node,
         fmt::format("expected {}, found {}{}", range.text(), describe(*node),
                     without_underscores(*node)));
  return fallback;
}

// A number with a unit, and the message for an invalid one.
struct MapReader::Quantity {
  const char* name;
  std::optional<std::int64_t> (*parse)(std::string_view);
  std::string (*text)(std::int64_t);
  const char* units;
  const char* unit;
  const char* examples;
};

std::int64_t MapReader::quantity(std::string_view key, std::int64_t fallback, std::int64_t least,
                                 std::int64_t most, const Quantity& of) {
  const Node* node = take(key);
  if (node == nullptr) return fallback;
  const bool scalar = node->kind == Node::Kind::scalar;
  const auto value = scalar ? of.parse(node->text) : std::nullopt;
  if (value && *value >= least && *value <= most) return *value;
  std::string message = fmt::format("expected a {} from {} to {}, found {}", of.name,
                                    of.text(least), of.text(most), describe(*node));
  if (scalar && !node->secret && looks_like_number(node->text)) {
    message += fmt::format("; add a unit ({}), as in '{}{}'", of.units, node->text, of.unit);
  } else if (!value) {
    message += fmt::format("; write it as {}", of.examples);
  }
  report(key, *node, std::move(message));
  return fallback;
}

std::int64_t MapReader::duration_ms(std::string_view key, std::int64_t fallback,
                                    DurationRange range) {
  return quantity(key, fallback, range.min_ms, range.max_ms,
                  {"duration", parse_duration_ms, duration_text, "ms, s, min, h, d", "s",
                   "'200ms', '60s', '10min', '2h' or '1d'"});
}

std::int64_t MapReader::size_bytes(std::string_view key, std::int64_t fallback, SizeRange range) {
  return quantity(key, fallback, range.min_bytes, range.max_bytes,
                  {"size", parse_size_bytes, size_text, "KiB, MiB, GiB, TiB", "MiB",
                   "'64MiB', '8GiB' or '16GB'"});
}

void MapReader::report(std::string_view key, const Node& node, std::string message) {
  problems_->push_back({node.mark, fmt::format("{}: {}", path_of(key), message)});
}

std::string MapReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void MapReader::finish(const OtherNames& other_names) {
  bool listed = false;
  for (const Member& member : node_->members) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    if (!may_be_shown(*node_, member.key)) {
      problems_->push_back(
          {member.mark,
           fmt::format("unknown key (not shown: it may be a secret); valid {}: {}",
                       path_.empty() ? "here" : "in " + path_, fmt::join(known_, ", "))});
      continue;
    }
    if (const std::string ours = other_names ? other_names(member.key) : ""; !ours.empty()) {
      problems_->push_back({member.mark, fmt::format("unknown key '{}'; {}", member.key, ours)});
      continue;
    }
    std::string hint;
    if (const std::string near = nearest(member.key, known_); !near.empty()) {
      hint = fmt::format("; did you mean '{}'?", near);
    } else if (!std::exchange(listed, true)) {  // once a map: they are the same for all of it
      hint = fmt::format("; valid {}: {}", path_.empty() ? "here" : "in " + path_,
                         fmt::join(known_, ", "));
    }
    problems_->push_back({member.mark, fmt::format("unknown key '{}'{}", member.key, hint)});
  }
}

}  // namespace trainward::yaml
