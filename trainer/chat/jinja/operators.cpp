// Arithmetic and slices, as Python has them. Integers beyond 64 bits are refused.
#include <cmath>
#include <limits>
#include <optional>

#include "trainer/chat/jinja/characters.hpp"
#include "trainer/chat/jinja/rendering.hpp"

namespace trainward::trainer::jinja {
namespace {

using Integer = std::int64_t;

std::optional<Integer> whole_number(const Value& value) {
  if (const auto* truth = value.as<bool>()) return *truth ? 1 : 0;
  if (const auto* held = value.as<Integer>()) return *held;
  return std::nullopt;
}
std::optional<double> real(const Value& value) {
  if (const auto* held = value.as<double>()) return *held;
  const auto whole = whole_number(value);
  return whole ? std::optional<double>(static_cast<double>(*whole)) : std::nullopt;
}

Result<Integer> power(Integer base, Integer exponent) {
  Integer result = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) {
      return refused("a number beyond 64 bits");
    }
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
      return refused("a number beyond 64 bits");
  }
  return result;
}

// Down, not towards zero.
Integer floored(Integer a, Integer b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

// By way of what is left, which is exact where the quotient is not.
double floored(double a, double b) {
  const double rest = std::fmod(a, b);
  const double quotient = (a - rest) / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
  return std::round(quotient);
}

Result<Value> of_integers(Operator op, Integer a, Integer b) {
  Integer result = 0;
  bool beyond = false;
  switch (op) {
    case Operator::add:
      beyond = __builtin_add_overflow(a, b, &result);
      break;
    case Operator::subtract:
      beyond = __builtin_sub_overflow(a, b, &result);
      break;
    case Operator::multiply:
      beyond = __builtin_mul_overflow(a, b, &result);
      break;
    case Operator::divide:
      if (b == 0) return refused("a division by zero");
      return Value(static_cast<double>(a) / static_cast<double>(b));
    case Operator::floor_divide:
    case Operator::remainder:
      if (b == 0) return refused("a division by zero");
      beyond = a == std::numeric_limits<Integer>::min() && b == -1;
      if (beyond) break;
      result = op == Operator::floor_divide ? floored(a, b) : a - floored(a, b) * b;
      break;
    case Operator::power: {
      if (b < 0 && a == 0) return refused("a division by zero");
      if (b < 0) return Value(std::pow(static_cast<double>(a), static_cast<double>(b)));
      auto raised = power(a, b);
      if (!raised) return propagate(raised);
      return Value(*raised);
    }
  }
  if (beyond) return refused("a number beyond 64 bits");
  return Value(result);
}

Result<Value> of_reals(Operator op, double a, double b) {
  const bool divides =
      op == Operator::divide || op == Operator::floor_divide || op == Operator::remainder;
  if (divides && b == 0) return refused("a division by zero");
  switch (op) {
    case Operator::add:
      return Value(a + b);
    case Operator::subtract:
      return Value(a - b);
    case Operator::multiply:
      return Value(a * b);
    case Operator::divide:
      return Value(a / b);
    case Operator::floor_divide:
      return Value(floored(a, b));
    case Operator::remainder: {
      const double rest = std::fmod(a, b);
      return Value(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    case Operator::power:
      break;
  }
  const double raised = std::pow(a, b);
  if (!std::isfinite(raised) || (a < 0 && b != std::floor(b)))
    return refused("a power that is not a number");
  return Value(raised);
}

Result<Value> joined(const Value& left, const Value& right, Budget& budget) {
  if (left.text() != nullptr && right.text() != nullptr) {
    Text text = *left.text();
    text.append(*right.text());
    if (auto ok = budget.text(text.size()); !ok) return propagate(ok);
    return Value(std::move(text));
  }
  const auto* a = left.as<Sequence>();
  const auto* b = right.as<Sequence>();
  const bool lists = a != nullptr && b != nullptr && a->kind == b->kind &&
                     (a->kind == Sequence::Kind::list || a->kind == Sequence::Kind::tuple);
  if (!lists) {
    return refused(fmt::format("{} and {} cannot be added", kind_name(left), kind_name(right)));
  }
  Items items = *a->items;
  items.insert(items.end(), b->items->begin(), b->items->end());
  return sequence(std::move(items), budget, a->kind);
}

Result<Value> repeated(const Value& what, Integer times, Budget& budget) {
  if (const Text* text = what.text()) {
    const double size = static_cast<double>(text->size()) * static_cast<double>(times);
    if (size > static_cast<double>(max_text_bytes))
      return refused("a text of the template grows beyond 8 MiB");
    Text made;
    for (Integer i = 0; i < times && !text->empty(); ++i) made.append(*text);
    if (auto ok = budget.text(made.size()); !ok) return propagate(ok);
    return Value(std::move(made));
  }
  const auto* list = what.as<Sequence>();
  const bool plain = list != nullptr &&
                     (list->kind == Sequence::Kind::list || list->kind == Sequence::Kind::tuple);
  if (!plain) return refused(fmt::format("{} cannot be multiplied", kind_name(what)));
  const double count = static_cast<double>(list->items->size()) * static_cast<double>(times);
  if (count > static_cast<double>(max_items))
    return refused("a list of the template grows beyond 100,000 items");
  Items items;
  for (Integer i = 0; i < times && !list->items->empty(); ++i) {
    items.insert(items.end(), list->items->begin(), list->items->end());
  }
  return sequence(std::move(items), budget, list->kind);
}

// Which of `count` places a slice takes.
Result<std::vector<std::size_t>> places(std::size_t size, const Value& from, const Value& to,
                                        const Value& step) {
  const auto count = static_cast<Integer>(size);
  const auto given = [](const Value& bound, Integer otherwise) -> Result<Integer> {
    if (bound.as<None>() != nullptr) return otherwise;
    const auto whole = whole_number(bound);
    if (!whole) return refused(fmt::format("{} where a place belongs", kind_name(bound)));
    return *whole;
  };
  auto by = given(step, 1);
  if (!by) return propagate(by);
  if (*by == 0) return refused("a slice takes no step of 0");
  const Integer low = *by > 0 ? 0 : -1;
  const Integer high = *by > 0 ? count : count - 1;
  auto begin = given(from, *by > 0 ? low : high);
  auto end = given(to, *by > 0 ? high : low);
  if (!begin) return propagate(begin);
  if (!end) return propagate(end);
  const auto inside = [&](Integer place, bool was_given) {
    if (was_given && place < 0) place += place < -count ? -place + low : count;
    return std::min(std::max(place, low), high);
  };
  const Integer first = inside(*begin, from.as<None>() == nullptr);
  const Integer last = inside(*end, to.as<None>() == nullptr);
  std::vector<std::size_t> taken;
  for (Integer at = first; *by > 0 ? at < last : at > last;) {
    taken.push_back(static_cast<std::size_t>(at));
    // A step beyond either end ends it, and must not overflow.
    if (*by > count || *by < -count) break;
    at += *by;
  }
  return taken;
}

}  // namespace

Result<Value> calculated(Operator op, const Value& left, const Value& right, Budget& budget) {
  if (const auto a = whole_number(left), b = whole_number(right); a && b)
    return of_integers(op, *a, *b);
  if (const auto a = real(left), b = real(right); a && b) return of_reals(op, *a, *b);
  if (op == Operator::remainder && left.text() != nullptr) {
    return refused("a text with % and values to put into it is not supported");
  }
  for (const Value* const side : {&left, &right}) {
    if (const auto* nothing = side->as<Undefined>()) {
      return refused(
          fmt::format("'{}' is undefined, and nothing can be calculated with it", nothing->name));
    }
  }
  if (op == Operator::add) return joined(left, right, budget);
  if (op == Operator::multiply) {
    if (const auto times = whole_number(right)) return repeated(left, *times, budget);
    if (const auto times = whole_number(left)) return repeated(right, *times, budget);
  }
  return refused(
      fmt::format("{} and {} cannot be calculated with", kind_name(left), kind_name(right)));
}

Result<Value> negated(const Value& operand) {
  if (const auto whole = whole_number(operand)) return of_integers(Operator::subtract, 0, *whole);
  if (const auto number = real(operand)) return Value(-*number);
  return refused(fmt::format("{} has no sign", kind_name(operand)));
}

Result<Value> sliced(const Value& of, const Value& from, const Value& to, const Value& step,
                     Budget& budget) {
  if (const Text* text = of.text()) {
    if (auto ok = budget.text(text->size()); !ok) return propagate(ok);
    const auto bounds = character_bounds(text->bytes());
    auto taken = places(bounds.size() - 1, from, to, step);
    if (!taken) return propagate(taken);
    Text made;
    for (const std::size_t place : *taken)
      made.append(text->slice(bounds[place], bounds[place + 1]));
    return Value(std::move(made));
  }
  const auto* sequence_of = of.as<Sequence>();
  if (sequence_of == nullptr || sequence_of->kind == Sequence::Kind::generator ||
      sequence_of->kind == Sequence::Kind::view) {
    return refused(fmt::format("{} has no parts", kind_name(of)));
  }
  auto taken = places(sequence_of->items->size(), from, to, step);
  if (!taken) return propagate(taken);
  Items items;
  for (const std::size_t place : *taken) items.push_back((*sequence_of->items)[place]);
  return sequence(std::move(items), budget, sequence_of->kind);
}

}  // namespace trainward::trainer::jinja
