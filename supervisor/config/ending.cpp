// How a program is asked to end, and with which exit codes it says that its work is finished.
#include <algorithm>
#include <array>
#include <csignal>

#include "common/base/text.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

struct Named {
  std::string_view name;
  int number;
};

constexpr std::array signals{Named{"TERM", SIGTERM}, Named{"INT", SIGINT},   Named{"HUP", SIGHUP},
                             Named{"QUIT", SIGQUIT}, Named{"USR1", SIGUSR1}, Named{"USR2", SIGUSR2},
                             Named{"KILL", SIGKILL}};

const Named* find_signal(std::string_view text) {
  std::string word = upper_case(trim(text));
  if (word.starts_with("SIG")) word.erase(0, 3);
  const auto number = yaml::parse_integer(word);
  const auto* const found = std::ranges::find_if(
      signals, [&](const Named& one) { return one.name == word || one.number == number; });
  return found == signals.end() ? nullptr : found;
}

void read_stop_signal(yaml::MapReader& program, const yaml::Node& node, Program& out) {
  const Named* found = node.kind == yaml::Node::Kind::scalar ? find_signal(node.text) : nullptr;
  if (found != nullptr) {
    out.stop_signal = found->number;
  } else {
    program.report("stop_signal", node,
                   "expected TERM, INT, HUP, QUIT, USR1, USR2 or KILL, found " + describe(node));
  }
}

void read_exit_codes(yaml::MapReader& program, const yaml::Node& node, Program& out) {
  constexpr std::int64_t most = 255;
  const bool list = node.kind == yaml::Node::Kind::list;
  core::ExitCodes codes;
  for (const yaml::Node& item : list ? node.items : std::vector{node}) {
    const auto code = yaml::parse_integer(item.text);
    if (item.kind != yaml::Node::Kind::scalar || !code || *code < 0 || *code > most) {
      return program.report(
          "exit_codes", item,
          "expected exit codes from 0 to 255, such as [0, 2], found " + describe(item));
    }
    codes.push_back(static_cast<int>(*code));
  }
  std::ranges::sort(codes);
  out.exit_codes = std::move(codes);
}

}  // namespace

void read_ending(yaml::MapReader& program, Program& out) {
  for (const std::string_view key : {"stop_signal", "exit_codes"}) {
    const yaml::Node* node = program.take(key);
    if (node == nullptr) continue;
    if (out.command.empty()) {
      program.report(key, *node,
                     "is for a 'command'; our own worker is asked with SIGTERM, and ends with 0 "
                     "when it is done");
    } else if (key == "stop_signal") {
      read_stop_signal(program, *node, out);
    } else {
      read_exit_codes(program, *node, out);
    }
  }
}

std::optional<std::string> stop_signal_of(std::string_view text) {
  const Named* found = find_signal(text);
  return found == nullptr ? std::nullopt : std::optional(std::string(found->name));
}

std::string stop_signal_name(int number) {
  const auto found = std::ranges::find(signals, number, &Named::number);
  return found == signals.end() ? std::to_string(number) : std::string(found->name);
}

}  // namespace trainward::config
