#include "hwprobe/described/like.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace trainward::hwprobe {
namespace {

using yaml::Node;
using Keys = std::initializer_list<std::string_view>;
using Problems = std::vector<yaml::Problem>;

std::string_view text_at(const Node& entry, std::string_view key) {
  const Node* node = entry.find(key);
  return node == nullptr ? std::string_view() : std::string_view(node->text);
}

bool same(const Node& a, const Node& b, Keys keys) {
  return std::ranges::all_of(
      keys, [&](std::string_view key) { return text_at(a, key) == text_at(b, key); });
}

// Whatever `changes` says of an entry with the same `keys` goes into it.
void change_list(Node& list, const Node& changes, Keys keys,
                 void (*change)(Node&, const Node&, Problems&), Problems& problems) {
  for (const Node& entry : changes.items) {
    const auto at = std::ranges::find_if(
        list.items, [&](const Node& candidate) { return same(candidate, entry, keys); });
    if (at == list.items.end()) {
      problems.push_back(
          {entry.mark, "the file that this one is like has no such entry: the same " +
                           std::string(*keys.begin()) + " is looked for"});
    } else {
      change(*at, entry, problems);
    }
  }
}

Node& member(Node& map, const yaml::Member& like) {
  const auto at = std::ranges::find(map.members, like.key, &yaml::Member::key);
  if (at != map.members.end()) return at->value;
  map.members.push_back({like.key, like.mark, {}});
  return map.members.back().value;
}

void change_entry(Node& entry, const Node& changes, Problems& /*problems*/) {
  for (const yaml::Member& change : changes.members) member(entry, change) = change.value;
}

void change_board(Node& board, const Node& changes, Problems& problems) {
  for (const yaml::Member& change : changes.members) {
    Node& value = member(board, change);
    const bool lists = value.kind == Node::Kind::list && change.value.kind == Node::Kind::list;
    if (lists && change.key == "chips") {
      change_list(value, change.value, {"id"}, change_entry, problems);
    } else if (lists && change.key == "links") {
      change_list(value, change.value, {"from", "to"}, change_entry, problems);
    } else {
      value = change.value;
    }
  }
}

}  // namespace

Node changed_boards(const Node& base, const Node& changes, Problems& problems) {
  Node boards = base;
  change_list(boards, changes, {"serial"}, change_board, problems);
  return boards;
}

}  // namespace trainward::hwprobe
