// What a rendering does with expressions.
#include <algorithm>
#include <array>

#include "trainer/chat/jinja/rendering.hpp"

namespace trainward::trainer::jinja {
namespace {

Result<Value> loop_member(const Loop& loop, std::string_view name) {
  const std::size_t count = loop.items.items->size();
  const auto number = [](std::size_t n) { return Value(static_cast<std::int64_t>(n)); };
  if (name == "index") return number(loop.index0 + 1);
  if (name == "index0") return number(loop.index0);
  if (name == "revindex") return number(count - loop.index0);
  if (name == "revindex0") return number(count - loop.index0 - 1);
  if (name == "first") return Value(loop.index0 == 0);
  if (name == "last") return Value(loop.index0 + 1 == count);
  if (name == "length") return number(count);
  if (name == "previtem") {
    return loop.index0 > 0 ? (*loop.items.items)[loop.index0 - 1] : undefined("loop.previtem");
  }
  if (name == "nextitem") {
    return loop.index0 + 1 < count ? (*loop.items.items)[loop.index0 + 1]
                                   : undefined("loop.nextitem");
  }
  return refused(fmt::format("loop.{} is not supported", name));
}

}  // namespace

Result<Value> Rendering::value(const Part& part) {
  Status room = budget_.spend(1);
  if (depth_ >= max_evaluation_depth) room = refused("the template calls itself too often");
  ++depth_;
  auto made = room ? std::visit([this](const auto& kind) { return value(kind); }, part->is)
                   : Result<Value>(propagate(room));
  --depth_;
  if (!made && made.error().where.empty()) made.error().where = line_name(part->line);
  return made;
}

Result<Value> Rendering::value(const Name& part) {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer) {
    for (const auto& [name, held] : scope->names) {
      if (name == part.name) return held;
    }
  }
  // Of Jinja itself, where undefined would mean something else.
  static constexpr std::array<std::string_view, 8> foreign = {
      "self", "super", "caller", "varargs", "kwargs", "cycler", "joiner", "lipsum"};
  if (std::find(foreign.begin(), foreign.end(), part.name) != foreign.end()) {
    return refused(fmt::format("'{}' is not supported", part.name));
  }
  return undefined(part.name);
}

Result<Value> Rendering::value(const SequenceLiteral& part) {
  Items items;
  for (const Part& one : part.items) {
    auto item = value(one);
    if (!item) return item;
    items.push_back(std::move(*item));
  }
  return sequence(std::move(items), budget_, part.kind);
}

Result<Value> Rendering::value(const MappingLiteral& part) {
  Entries entries;
  for (const auto& [key_part, value_part] : part.entries) {
    auto key = value(key_part);
    if (!key) return key;
    auto held = value(value_part);
    if (!held) return held;
    entries.emplace_back(std::move(*key), std::move(*held));
  }
  return mapping(std::move(entries), budget_);
}

Result<Value> Rendering::member(const Value& of, std::string_view name) {
  if (const auto* space = of.as<NamespaceName>()) {
    for (const auto& [known, held] : namespaces_[space->number]) {
      if (known == name) return held;
    }
    return undefined(name);
  }
  if (const auto* loop = of.as<std::shared_ptr<const Loop>>()) return loop_member(**loop, name);
  if (of.as<Mapping>() != nullptr && is_method(of, name)) {
    return refused(fmt::format("the method '{}' of a mapping as a value is not supported", name));
  }
  return item(of, Value(Text(name)), budget_);
}

Result<Value> Rendering::value(const Member& part) {
  auto of = value(part.of);
  return of ? member(*of, part.name) : of;
}

Result<Value> Rendering::value(const Index& part) {
  auto of = value(part.of);
  if (!of) return of;
  auto key = value(part.key);
  if (!key) return key;
  const bool inside_rendering =
      of->as<NamespaceName>() != nullptr || of->as<std::shared_ptr<const Loop>>() != nullptr;
  if (inside_rendering && key->text() != nullptr) return member(*of, key->text()->bytes());
  return item(*of, *key, budget_);
}

Result<Value> Rendering::value(const Slice& part) {
  auto of = value(part.of);
  if (!of) return of;
  std::array<Value, 3> bounds{Value(None{}), Value(None{}), Value(None{})};
  std::size_t i = 0;
  for (const Part* const bound : {&part.from, &part.to, &part.step}) {
    if (*bound) {
      auto given = value(*bound);
      if (!given) return given;
      bounds[i] = std::move(*given);
    }
    ++i;
  }
  return sliced(*of, bounds[0], bounds[1], bounds[2], budget_);
}

Result<Value> Rendering::value(const Negation& part) {
  auto operand = value(part.operand);
  return operand ? negated(*operand) : operand;
}

Result<Value> Rendering::value(const Affirmation& part) {
  auto operand = value(part.operand);
  if (!operand) return operand;
  auto back = negated(*operand);
  return back ? negated(*back) : back;
}

Result<Value> Rendering::value(const Not& part) {
  auto operand = value(part.operand);
  return operand ? Value(!truth(*operand)) : operand;
}

Result<Value> Rendering::value(const Arithmetic& part) {
  auto left = value(part.left);
  if (!left) return left;
  auto right = value(part.right);
  return right ? calculated(part.op, *left, *right, budget_) : right;
}

Result<Value> Rendering::value(const Concatenation& part) {
  Text text;
  for (const Part& one : part.parts) {
    auto held = value(one);
    if (!held) return held;
    auto shown = printed(*held, budget_);
    if (!shown) return propagate(shown);
    text.append(*shown);
    if (auto ok = budget_.text(text.size()); !ok) return propagate(ok);
  }
  return Value(std::move(text));
}

Result<bool> Rendering::holds(Relation relation, const Value& left, const Value& right) {
  if (auto ok = budget_.spend(std::min(extent_of(left).weight, extent_of(right).weight)); !ok) {
    return propagate(ok);
  }
  switch (relation) {
    case Relation::equal:
      return equal(left, right);
    case Relation::unequal:
      return !equal(left, right);
    case Relation::in:
      return contains(right, left, budget_);
    case Relation::not_in: {
      auto inside = contains(right, left, budget_);
      return inside ? Result<bool>(!*inside) : inside;
    }
    default:
      break;
  }
  auto order = compare(left, right);
  if (!order) return propagate(order);
  switch (relation) {
    case Relation::less:
      return *order < 0;
    case Relation::at_most:
      return *order <= 0;
    case Relation::greater:
      return *order > 0;
    default:
      return *order >= 0;
  }
}

Result<Value> Rendering::value(const Comparison& part) {
  auto left = value(part.first);
  if (!left) return left;
  for (const auto& [relation, other] : part.rest) {
    auto right = value(other);
    if (!right) return right;
    auto held = holds(relation, *left, *right);
    if (!held) return propagate(held);
    if (!*held) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Rendering::value(const Logic& part) {
  auto left = value(part.left);
  return left && truth(*left) == part.both ? value(part.right) : left;
}

Result<Value> Rendering::value(const Conditional& part) {
  auto condition = value(part.condition);
  if (!condition) return condition;
  if (truth(*condition)) return value(part.then);
  return part.otherwise ? value(part.otherwise) : undefined("what else there is");
}

Result<Arguments> Rendering::arguments(const Parameters& parameters) {
  Arguments made;
  for (const Part& part : parameters.positional) {
    auto given = value(part);
    if (!given) return propagate(given);
    made.positional.push_back(std::move(*given));
  }
  for (const auto& [name, part] : parameters.named) {
    auto given = value(part);
    if (!given) return propagate(given);
    made.named.emplace_back(name, std::move(*given));
  }
  return made;
}

Result<Value> Rendering::value(const Filtered& part) {
  auto of = part.of ? value(part.of) : Result<Value>(Value(*block_text_));
  if (!of) return of;
  auto given = arguments(part.parameters);
  if (!given) return propagate(given);
  return part.filter->apply(*of, *given, budget_);
}

Result<Value> Rendering::value(const Tested& part) {
  auto of = value(part.of);
  if (!of) return of;
  auto given = arguments(part.parameters);
  if (!given) return propagate(given);
  auto held = part.test->holds(*of, *given, budget_);
  if (!held) return propagate(held);
  return Value(*held != part.negated);
}

}  // namespace trainward::trainer::jinja
