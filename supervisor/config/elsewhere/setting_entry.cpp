#include "supervisor/config/elsewhere/setting_entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/settings/worker_settings.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/elsewhere/other_names.hpp"

namespace trainward::config::elsewhere {
namespace {

using yaml::Mark;
using yaml::Member;
using yaml::Node;

Node* member_of(Node& map, std::string_view key) {
  for (Member& member : map.members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

// The node under a dotted name; nullptr where a part of it is missing.
Node* locate(Node& root, std::string_view path) {
  Node* node = &root;
  while (node != nullptr && !path.empty()) {
    const auto dot = path.find('.');
    node = member_of(*node, path.substr(0, dot));
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return node;
}

Node& made(Node& root, std::string_view path, Mark mark) {
  Node* node = &root;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    if (node->kind == Node::Kind::null) node->kind = Node::Kind::map;
    Node* inner = member_of(*node, key);
    if (inner == nullptr) {
      Node map;
      map.kind = Node::Kind::map;
      map.mark = mark;
      node->members.push_back({std::string(key), mark, std::move(map)});
      inner = &node->members.back().value;
    }
    node = inner;
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return *node;
}

std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == std::string_view::npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

// A key of ours in this section or map.
bool is_ours(std::string_view section, std::string_view key) {
  if (section.empty()) return is_program_key(key);
  const auto is_it = [&](const settings::Setting& of) {
    return of.section == section && of.key == key;
  };
  return std::any_of(settings::worker_settings.begin(), settings::worker_settings.end(), is_it) ||
         std::any_of(settings::maps.begin(), settings::maps.end(), [&](const settings::Map& map) {
           return map.parent() == section && map.key() == key;
         });
}

std::string join(std::string_view where, std::string_view key) {
  return fmt::format("{}{}{}", where, where.empty() || key.empty() ? "" : ".", key);
}

}  // namespace

bool is_infinite(const Node& node) {
  const std::string word = lower_case(node.text);
  return node.kind == Node::Kind::scalar && (word == "inf" || word == ".inf" || word == "infinity");
}

bool is_empty_or_false(const Node& node) {
  if (node.kind == Node::Kind::null) return true;
  if (node.kind == Node::Kind::list) return node.items.empty();
  if (node.kind == Node::Kind::map) return node.members.empty();
  if (node.text.empty()) return true;
  const auto flag = node.quoted ? std::nullopt : yaml::parse_boolean(node.text);
  return flag && !*flag;
}

Node plain(std::string text, const Node& like) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.mark = like.mark;
  node.text = std::move(text);
  return node;
}

const Node* Entry::find(std::string_view ours) const { return locate(program_, ours); }

void Entry::put(std::string_view ours, const std::string& theirs, Mark mark, Node value) {
  const auto [map, key] = split(ours);
  Node& target = made(program_, map, mark);
  if (target.kind == Node::Kind::null) target.kind = Node::Kind::map;
  if (member_of(target, key) != nullptr) {
    const auto source = sources_.find(ours);
    report(theirs, mark,
           fmt::format("says the same as '{}'; keep one of them",
                       source == sources_.end() ? join(path_, ours) : source->second));
    return;
  }
  sources_[std::string(ours)] = theirs;
  target.members.push_back({std::string(key), mark, std::move(value)});
}

void Entry::put_map(std::string_view ours, Mark mark) { (void)made(program_, ours, mark); }

std::optional<Member> Entry::take(std::string_view ours) {
  const auto [map, key] = split(ours);
  Node* node = locate(program_, map);
  if (node == nullptr) return std::nullopt;
  const auto at = std::find_if(node->members.begin(), node->members.end(),
                               [key = key](const Member& member) { return member.key == key; });
  if (at == node->members.end()) return std::nullopt;
  Member member = std::move(*at);
  node->members.erase(at);
  return member;
}

std::string Entry::called(std::string_view ours) const {
  const auto source = sources_.find(ours);
  return source == sources_.end() ? "" : source->second;
}

void Entry::read(std::string_view section, const std::string& prefix) {
  Node* node = locate(program_, section);
  if (node == nullptr || node->kind != Node::Kind::map) return;
  // Our own first: whatever says the same beside them is then told so.
  std::vector<Member> others;
  for (Member& member : std::exchange(node->members, {})) {
    const Name* name = find_name(prefix + member.key);
    const bool waits = name != nullptr && name->how == How::at_the_end;
    const bool stays = name == nullptr || (is_ours(section, member.key) && !waits);
    (stays ? node->members : others).push_back(std::move(member));
  }
  // Values find their places by name: the map that they stood in may move meanwhile.
  for (Member& member : others) {
    const std::string where = join(join(path_, section), member.key);
    const Name& name = *find_name(prefix + member.key);
    accept(name, where, std::move(member));
  }
}

void Entry::read_inside(const std::string& where, const std::string& prefix, Node map) {
  if (map.kind == Node::Kind::null) return;
  if (map.kind != Node::Kind::map) {
    return report(where, map.mark, "expected a map of keys, found " + describe(map));
  }
  for (Member& member : map.members) {
    const Name* name = find_name(prefix + member.key);
    if (name != nullptr) {
      const std::string whole = join(where, member.key);
      accept(*name, whole, std::move(member));
      continue;
    }
    std::vector<std::string_view> known;
    for (const Name& each : all_names()) {
      const auto key = each.theirs.substr(std::min(prefix.size(), each.theirs.size()));
      if (!prefix.empty() && each.theirs.starts_with(prefix)) known.push_back(key);
    }
    const std::string near = nearest(member.key, known);
    const std::string answer = prefix.empty() ? other_name(member.key) : "";
    report(where, member.mark,
           fmt::format("unknown key '{}'{}", member.key,
                       !answer.empty() ? "; " + answer
                       : !near.empty() ? fmt::format("; did you mean '{}'?", near)
                       : known.empty() ? ""
                                       : fmt::format("; known here: {}", fmt::join(known, ", "))));
  }
}

void Entry::accept(const Name& name, const std::string& where, Member member) {
  switch (name.how) {
    case How::same:
      return put(name.ours, where, member.mark, std::move(member.value));
    case How::word:
      return accept_word(name, where, member);
    case How::clip:
      if (is_infinite(member.value)) member.value = plain("0", member.value);
      return put(name.ours, where, member.mark, std::move(member.value));
    case How::nothing:
      if (is_empty_or_false(member.value)) return;
      return note(where, member.mark, fmt::format("does nothing here: {}", name.says));
    case How::agreed:
      if (is_empty_or_false(member.value)) return;
      return report(
          where, member.value.mark,
          fmt::format("{} is nothing that is done here: {}", describe(member.value), name.says));
    case How::inside: {
      if (!name.ours.empty()) put_map(name.ours, member.mark);
      return read_inside(where, std::string(split(name.theirs).second) + ".",
                         std::move(member.value));
    }
    case How::spread:
      return read_inside(where, "", std::move(member.value));
    case How::at_the_end:
      said_[std::string(name.theirs)] = {where, std::move(member)};
      return;
  }
}

void Entry::accept_word(const Name& name, const std::string& where, const Member& member) {
  const Node& value = member.value;
  const bool scalar = value.kind == Node::Kind::scalar;
  // A boolean may be written in three ways, and is our own value then.
  const bool flag = scalar && !value.quoted && yaml::parse_boolean(value.text).has_value();
  const Word* word =
      scalar ? find_word(name.ours, flag ? lower_case(value.text) : value.text) : nullptr;
  if (word == nullptr) {
    return report(where, value.mark,
                  fmt::format("expected one of {}, found {}",
                              fmt::join(known_words(name.ours), ", "), describe(value)));
  }
  if (!word->word.empty()) {
    put(name.ours, where, member.mark, plain(std::string(word->word), value));
  }
}

std::optional<Entry::Said> Entry::said(std::string_view theirs) {
  const auto at = said_.find(theirs);
  if (at == said_.end()) return std::nullopt;
  Said out = std::move(at->second);
  said_.erase(at);
  return out;
}

void Entry::report(const std::string& where, Mark mark, const std::string& message) {
  problems_.push_back({mark, fmt::format("{}: {}", where, message)});
}

void Entry::note(const std::string& where, Mark mark, const std::string& message) {
  if (folders_.notes != nullptr) folders_.notes->push_back({mark, where + " " + message});
}

}  // namespace trainward::config::elsewhere
