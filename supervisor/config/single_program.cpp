#include "supervisor/config/single_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/config/elsewhere/other_names.hpp"
#include "supervisor/config/elsewhere/translate.hpp"
#include "supervisor/evidence/foreign/substitute.hpp"

namespace trainward::config {
namespace {

using yaml::Member;
using yaml::Node;

constexpr std::array<std::string_view, 9> keys_of_the_file{
    "state_dir", "socket", "log_level", "rules", "listen", "hosts", "proxies", "tokens", "notify"};
constexpr std::string_view any_program = "main";

bool of_the_file(const Member& member) {
  return std::find(keys_of_the_file.begin(), keys_of_the_file.end(), member.key) !=
         keys_of_the_file.end();
}

Node map_with(std::string key, Node value) {
  Node map;
  map.kind = Node::Kind::map;
  map.mark = value.mark;
  map.members.push_back({std::move(key), value.mark, std::move(value)});
  return map;
}

Node text_node(std::string text, yaml::Mark mark) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.mark = mark;
  node.text = std::move(text);
  node.quoted = true;
  return node;
}

// "{checkpoint}" stays, every other brace is doubled, which is one brace.
std::string with_braces(std::string_view word) {
  std::string out;
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (word[at] == '{') {
      const auto end = word.find('}', at);
      const auto names = foreign::launch_names();
      const bool is_name =
          end != std::string_view::npos &&
          std::find(names.begin(), names.end(), word.substr(at + 1, end - at - 1)) != names.end();
      if (!is_name) out += '{';
    }
    out += word[at];
  }
  return out;
}

// Python's levels: a program's whole configuration is often its trainer's.
void spell_as_here(Node& level) {
  if (level.kind != Node::Kind::scalar) return;
  const std::string word = lower_case(level.text);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> levels{
      {{"debug", "debug"},
       {"info", "info"},
       {"warning", "warning"},
       {"error", "error"},
       {"critical", "error"}}};
  for (const auto& [theirs, ours] : levels) {
    if (word == theirs) level.text = ours;
  }
}

// What a program may be called, as near to `name` as can be.
std::string as_name(std::string name) {
  if (name.size() > 64) name.resize(64);
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return letters.find(c) == std::string_view::npos; },
      '-');
  const bool usable = !name.empty() && name != "all" && name.find_first_not_of('.') != name.npos;
  return usable ? name : std::string(any_program);
}

bool names_something(const std::string& word) {
  const auto names = foreign::launch_names();
  const auto text = foreign::Template::parse(word, names);
  return text && std::any_of(names.begin(), names.end(),
                             [&](std::string_view name) { return text->names(name); });
}

}  // namespace

void name_single_program(Node& root, std::string name, std::vector<yaml::Problem>& notes) {
  if (root.kind != Node::Kind::map || root.find("programs") != nullptr) return;
  const bool is_program = std::any_of(
      root.members.begin(), root.members.end(),
      [](const Member& member) { return !of_the_file(member) && !other_name(member.key).empty(); });
  if (!is_program) return;
  Node program;
  program.kind = Node::Kind::map;
  program.mark = root.mark;
  std::vector<Member> left;
  for (Member& member : root.members) {
    if (of_the_file(member)) {
      if (member.key == "log_level") spell_as_here(member.value);
      left.push_back(std::move(member));
    } else if (member.key == "name" && member.value.kind == Node::Kind::scalar) {
      name = member.value.text;
    } else {
      program.members.push_back(std::move(member));
    }
  }
  notes.push_back(
      {root.mark, fmt::format("there is no 'programs:', so this is one program, '{}'", name)});
  elsewhere::gather_flat(program);
  Node programs = map_with(std::move(name), std::move(program));
  left.push_back({"programs", programs.mark, std::move(programs)});
  root.members = std::move(left);
}

std::string name_of_file(const std::filesystem::path& file,
                         const std::filesystem::path& state_dir) {
  const std::string stem = file.stem().string();
  std::string name(any_program);
  if (stem != std::filesystem::path(usual_file).stem()) name = as_name(stem);
  const auto has_run = [&](std::string_view of) {
    std::error_code failed;
    return std::filesystem::exists(state_dir / "runs" / of, failed);
  };
  return has_run(any_program) && !has_run(name) ? std::string(any_program) : name;
}

Node command_of_words(std::span<const std::string> words, yaml::Mark mark) {
  Node command;
  command.kind = Node::Kind::list;
  command.mark = mark;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Node word = text_node(words[i], mark);
    if (i == 0 || !names_something(words[i])) {
      command.items.push_back(std::move(word));
      continue;
    }
    Node together;
    together.kind = Node::Kind::list;
    together.mark = mark;
    Node& before = command.items.back();
    const bool option = i > 1 && before.kind == Node::Kind::scalar && before.text.starts_with('-');
    const bool value = words[i].find(":+-") == std::string::npos;  // an option of its own
    if (value && option && before.text.find('=') == std::string::npos) {
      together.items.push_back(std::move(before));
      command.items.pop_back();
    }
    together.items.push_back(std::move(word));
    command.items.push_back(std::move(together));
  }
  return command;
}

// Of the script when there is one, else of the program.
std::string name_of_command(std::span<const std::string> words) {
  std::filesystem::path named(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool module = words[i - 1] == "-m" && !words[i].empty();
    const auto extension = std::filesystem::path(words[i]).extension();
    if (!module && extension != ".py" && extension != ".sh") continue;
    named = words[i];
    break;
  }
  const bool script = named.extension() == ".py" || named.extension() == ".sh";
  return as_name(script ? named.stem().string() : named.filename().string());
}

Node program_of_command(std::span<const std::string> words) {
  std::vector<std::string> texts;
  for (const std::string& word : words) texts.push_back(with_braces(word));
  Node command = command_of_words(texts, {});
  return map_with("programs",
                  map_with(name_of_command(words), map_with("command", std::move(command))));
}

}  // namespace trainward::config
