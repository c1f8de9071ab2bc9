#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/base/shell_words.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/reading/secrets.hpp"
#include "supervisor/config/sections.hpp"
#include "supervisor/config/single_program.hpp"

namespace trainward::config {
namespace {

using foreign::Template;
using yaml::MapReader;
using yaml::Node;

using Names = std::span<const std::string_view>;

// Arguments and environment values are text whatever they look like: `2` is the text 2.
bool literal_text(const Node& node) {
  return node.kind == Node::Kind::scalar && node.text.find('\0') == std::string::npos;
}

Template read_template(MapReader& reader, std::string_view key, const Node& node, Names names) {
  if (node.kind == Node::Kind::refused) return {};
  if (!literal_text(node)) {
    reader.report(key, node, "expected text, found " + describe(node));
    return {};
  }
  auto parsed = Template::parse(node.text, names);
  if (parsed) return std::move(*parsed);
  reader.report(key, node, parsed.error().what);
  return {};
}

// The list under `key`, or nullptr; anything that is no list with something in it is reported.
const Node* take_list(MapReader& reader, std::string_view key, std::string_view example) {
  const Node* list = reader.take(key);
  if (list == nullptr || (list->kind == Node::Kind::list && !list->items.empty())) return list;
  reader.report(key, *list,
                fmt::format("expected a list such as {}, found {}", example,
                            list->kind == Node::Kind::list ? "an empty list" : describe(*list)));
  return nullptr;
}

void need_program(MapReader& reader, std::string_view key, const Node& first) {
  if (first.kind == Node::Kind::scalar && first.text.empty()) {
    reader.report(key, first, "expected a program to run, found empty text");
  }
}

std::vector<Template> read_words(MapReader& program, std::string_view key, std::string_view example,
                                 Names names) {
  std::vector<Template> command;
  const Node* list = take_list(program, key, example);
  if (list == nullptr) return command;
  need_program(program, key, list->items.front());
  for (const Node& item : list->items) {
    command.push_back(read_template(program, key, item, names));
  }
  return command;
}

// A command written as one text, as the list it stands for; an empty one when that was reported.
Node split_command(MapReader& program, const Node& text) {
  Node list;
  list.kind = Node::Kind::list;
  list.mark = text.mark;
  const auto split = split_words(text.text);
  if (!split || split->obeyed != 0 || split->words.empty()) {
    std::string as_one;
    for (const char c : text.text) as_one += c == '{' ? "{{" : std::string(1, c);
    program.report("command", text,
                   !split                 ? split.error().what
                   : split->words.empty() ? "expected a program to run, found empty text"
                                          : fmt::format("no shell reads it, and there is a '{}' in "
                                                        "it; write [bash, -c, {}]",
                                                        split->obeyed, yaml::text_scalar(as_one)));
    return list;
  }
  return command_of_words(split->words, text.mark);
}

}  // namespace

bool variable_name(std::string_view name) {
  const auto word = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), word);
}

foreign::Command read_command(MapReader& program) {
  foreign::Command command;
  const Node* written = program.node().find("command");
  const bool is_text = written != nullptr && written->kind == Node::Kind::scalar;
  const Node split = is_text ? split_command(program, *written) : Node{};
  if (is_text) program.take("command");
  const Node* list = is_text ? &split : take_list(program, "command", "[python3, train.py]");
  if (list == nullptr || list->items.empty()) return command;
  need_program(program, "command", list->items.front());
  if (list->items.front().kind == Node::Kind::list) {
    program.report("command", list->items.front(),
                   "expected a program to run, found a list, which may be left out");
    return command;
  }
  for (const Node& item : list->items) {
    foreign::Argument argument;
    argument.together = item.kind == Node::Kind::list;
    if (argument.together) {
      if (item.items.empty()) {
        program.report("command", item, "expected arguments, found an empty list");
      }
      for (const Node& word : item.items) {
        argument.words.push_back(read_template(program, "command", word, foreign::launch_names()));
      }
    } else {
      argument.words.push_back(read_template(program, "command", item, foreign::launch_names()));
    }
    command.push_back(std::move(argument));
  }
  return command;
}

std::vector<Template> read_probe_command(MapReader& program) {
  return read_words(program, "probe_command", "[my-probe, --json]", {});
}

std::vector<Template> read_reset_command(MapReader& program) {
  return read_words(program, "reset_command", "[tt-smi, -r, \"{bus_id}\"]", foreign::reset_names());
}

std::map<std::string, Template> read_environment(MapReader& program) {
  std::map<std::string, Template> out;
  const Node* node = program.take("environment");
  if (node == nullptr) return out;
  MapReader map(*node, program.path_of("environment"), program.problems());
  for (const yaml::Member& member : node->members) {
    const auto report = [&](const yaml::Mark& mark, std::string_view message) {
      const std::string path =
          may_be_a_secret(member.key) ? program.path_of("environment") : map.path_of(member.key);
      program.problems().push_back({mark, fmt::format("{}: {}", path, message)});
    };
    if (member.value.kind == Node::Kind::refused) continue;
    if (!variable_name(member.key)) {
      report(member.mark, "expected a variable name of letters, digits and _");
    } else if (member.key.starts_with("TRAINWARD_") || member.key == "NOTIFY_SOCKET") {
      report(member.mark, "is set by the supervisor and cannot be set here");
    } else if (member.value.kind == Node::Kind::null) {
      report(member.value.mark,
             "expected text, found " + describe(member.value) + "; write \"\" for an empty value");
    } else {
      out[member.key] = read_template(map, member.key, member.value, foreign::launch_names());
    }
  }
  return out;
}

}  // namespace trainward::config
