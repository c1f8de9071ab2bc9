#include "common/yaml/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/yaml/scalar.hpp"

namespace trainward::yaml {
namespace {

// A value inside a message: one line, not endless.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out;
  for (const char c : text.substr(0, longest)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  if (text.size() > longest) out += "…";
  return out;
}

json::value scalar(const Node& node) {
  if (!node.quoted) {
    if (const auto truth = parse_boolean(node.text)) return *truth;
    if (const auto whole = parse_integer(node.text)) return *whole;
    if (const auto number = parse_number(node.text)) return *number;
  }
  return json::value(node.text);
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

bool looks_like_number(std::string_view text) { return parse_number(text).has_value(); }

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map of keys";
    case Node::Kind::refused:
      return "something refused";
    case Node::Kind::scalar:
      break;
  }
  if (!node.quoted && parse_boolean(node.text)) return node.text;
  const bool number = !node.quoted && looks_like_number(node.text);
  if (node.secret) {
    return std::string(number ? "a number" : "a text") + " (not shown: it may be a secret)";
  }
  if (number) return "the number " + shown(node.text);
  if (node.text.find("://") != std::string::npos) {
    return "an address (not shown: it may hold a secret)";
  }
  return fmt::format("the text '{}'", shown(node.text));
}

json::value to_json_value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::scalar:
      return scalar(node);
    case Node::Kind::list: {
      json::array out;
      for (const Node& item : node.items) out.push_back(to_json_value(item));
      return out;
    }
    case Node::Kind::map: {
      json::object out;
      for (const Member& member : node.members) out[member.key] = to_json_value(member.value);
      return out;
    }
    case Node::Kind::null:
    case Node::Kind::refused:
      break;
  }
  return nullptr;
}

}  // namespace trainward::yaml
