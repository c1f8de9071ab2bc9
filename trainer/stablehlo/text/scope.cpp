#include "trainer/stablehlo/text/scope.hpp"

namespace trainward::stablehlo {
namespace {

constexpr std::size_t most_names = std::size_t{1} << 20;

}  // namespace

using graph::Value;

void Scope::enter(std::string_view name, Entry entry) {
  if (!in_.ok()) return;
  if (names_.size() == most_names) return in_.fail("too many operations");
  if (!names_.emplace(name, std::move(entry)).second) {
    in_.fail(fmt::format("{} is named twice", name));
  }
}

void Scope::name(std::string_view name, Value value) { enter(name, {value, {}}); }

void Scope::name(std::string_view name, graph::op::Constant constant) {
  enter(name, {{}, std::move(constant)});
}

Scope::Entry* Scope::find() {
  const std::string_view name = in_.take(TokenKind::value, "a value, such as %0");
  const auto found = names_.find(name);
  if (found != names_.end()) return &found->second;
  in_.fail(fmt::format("there is no value {}", name));
  return nullptr;
}

Value Scope::value() {
  Entry* entry = find();
  if (entry == nullptr) return {};
  if (!entry->value.valid()) entry->value = append(*entry->constant, {});
  return entry->value;
}

double Scope::scalar() {
  const Entry* entry = find();
  if (entry == nullptr) return 0;
  if (!entry->constant || entry->constant->type != graph::Type{}) {
    in_.fail("expected a constant of type tensor<f32>");
    return 0;
  }
  return entry->constant->value;
}

Value Scope::append(graph::Op op, std::vector<Value> inputs) {
  if (!in_.ok()) return {};
  const Value value = builder_.append(std::move(op), std::move(inputs));
  if (builder_.error()) in_.fail(builder_.error()->what);
  return value;
}

}  // namespace trainward::stablehlo
