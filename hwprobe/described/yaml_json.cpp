#include "hwprobe/described/yaml_json.hpp"

#include "common/yaml/scalar.hpp"

namespace trainward::hwprobe {
namespace {

json::value scalar(const yaml::Node& node) {
  if (!node.quoted) {
    if (const auto truth = yaml::parse_boolean(node.text)) return *truth;
    if (const auto whole = yaml::parse_integer(node.text)) return *whole;
    if (const auto number = yaml::parse_number(node.text)) return *number;
  }
  return json::value(node.text);
}

}  // namespace

json::value to_json_value(const yaml::Node& node) {
  switch (node.kind) {
    case yaml::Node::Kind::scalar:
      return scalar(node);
    case yaml::Node::Kind::list: {
      json::array out;
      for (const yaml::Node& item : node.items) out.push_back(to_json_value(item));
      return out;
    }
    case yaml::Node::Kind::map: {
      json::object out;
      for (const yaml::Member& member : node.members) {
        out[member.key] = to_json_value(member.value);
      }
      return out;
    }
    case yaml::Node::Kind::null:
    case yaml::Node::Kind::refused:
      break;
  }
  return nullptr;
}

}  // namespace trainward::hwprobe
