#include "checkpoint/pytorch/pickle/pickle_tree.hpp"

#include <fmt/format.h>

namespace trainward::checkpoint::pytorch {

NodeId Tree::find(NodeId dict, std::string_view key) const {
  const Dict* found = as<Dict>(dict);
  if (found == nullptr) return no_node;
  for (const auto& [name, value] : found->entries) {
    const std::string* text = as<std::string>(name);
    if (text != nullptr && *text == key) return value;
  }
  return no_node;
}

std::string_view kind_of(const Node& node) {
  struct Namer {
    std::string_view operator()(const None&) const { return "None"; }
    std::string_view operator()(const bool&) const { return "a truth value"; }
    std::string_view operator()(const std::int64_t&) const { return "a whole number"; }
    std::string_view operator()(const double&) const { return "a fraction"; }
    std::string_view operator()(const BigInteger&) const { return "a very large number"; }
    std::string_view operator()(const std::string&) const { return "a text"; }
    std::string_view operator()(const List&) const { return "a list"; }
    std::string_view operator()(const Tuple&) const { return "a tuple"; }
    std::string_view operator()(const Set&) const { return "a set"; }
    std::string_view operator()(const Dict&) const { return "a dictionary"; }
    std::string_view operator()(const Global* const&) const { return "a name"; }
    std::string_view operator()(const Call&) const { return "an object"; }
    std::string_view operator()(const StorageSlice&) const { return "a storage"; }
    std::string_view operator()(const TensorRef&) const { return "a tensor"; }
  };
  return std::visit(Namer{}, node);
}

std::string key_spelling(const Node& node) {
  if (const auto* text = std::get_if<std::string>(&node)) return "t" + *text;
  if (const auto* whole = std::get_if<std::int64_t>(&node)) return fmt::format("i{}", *whole);
  if (const auto* real = std::get_if<double>(&node)) return fmt::format("r{}", *real);
  if (const auto* truth = std::get_if<bool>(&node)) return *truth ? "bTrue" : "bFalse";
  if (std::holds_alternative<None>(node)) return "None";
  return {};
}

}  // namespace trainward::checkpoint::pytorch
