#include "supervisor/config/reading/overrides.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "common/base/text.hpp"

namespace trainward::config {
namespace {

// The longest key of `node` that starts `path` and ends at a dot: program names may hold dots.
yaml::Member* longest_member(yaml::Node& node, std::string_view path) {
  yaml::Member* best = nullptr;
  for (yaml::Member& member : node.members) {
    const bool starts = path.substr(0, member.key.size()) == member.key;
    const bool ends = path.size() == member.key.size() ||
                      (path.size() > member.key.size() && path[member.key.size()] == '.');
    if (starts && ends && (best == nullptr || member.key.size() > best->key.size())) {
      best = &member;
    }
  }
  return best;
}

std::string unknown_program(const yaml::Node& programs, std::string_view name) {
  std::vector<std::string_view> names;
  for (const yaml::Member& member : programs.members) names.push_back(member.key);
  std::string message = fmt::format("the file has no program '{}'", name);
  if (const std::string near = nearest(name, names); !near.empty()) {
    message += fmt::format("; did you mean '{}'?", near);
  }
  return message;
}

}  // namespace

void apply_override(yaml::Node& root, std::string_view text, int number,
                    std::vector<yaml::Problem>& problems) {
  const yaml::Mark mark{0, 0, number};
  const auto report = [&](std::string message) { problems.push_back({mark, std::move(message)}); };

  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return report(fmt::format("expected KEY.PATH=VALUE, found '{}'", text));
  }
  std::string_view rest = text.substr(0, equals);

  yaml::Document value = yaml::parse(text.substr(equals + 1), {}, number);
  if (!value.problems.empty()) {
    return report(fmt::format("{}: {}", rest, value.problems.front().message));
  }

  yaml::Node* node = &root;
  bool under_programs = false;
  for (;;) {
    if (node->kind == yaml::Node::Kind::null) node->kind = yaml::Node::Kind::map;
    if (node->kind == yaml::Node::Kind::refused) return;  // already reported
    if (node->kind != yaml::Node::Kind::map) {
      return report(fmt::format("{}: nothing can be set inside {}", text.substr(0, equals),
                                yaml::describe(*node)));
    }
    yaml::Member* member = longest_member(*node, rest);
    if (member == nullptr) {
      const std::string_view key = rest.substr(0, rest.find('.'));
      if (key.empty()) {
        return report(fmt::format("'{}' has an empty part", text.substr(0, equals)));
      }
      if (under_programs) return report(unknown_program(*node, key));
      yaml::Node added;
      added.mark = mark;
      node->members.push_back({std::string(key), mark, std::move(added)});
      member = &node->members.back();
    }
    under_programs = node == &root && member->key == "programs";
    const bool last = member->key.size() == rest.size();
    rest.remove_prefix(last ? rest.size() : member->key.size() + 1);
    if (last) {
      member->value = std::move(value.root);
      return;
    }
    node = &member->value;
  }
}

}  // namespace trainward::config
