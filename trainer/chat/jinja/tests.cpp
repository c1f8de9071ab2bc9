// What `is` can ask.
#include <algorithm>
#include <array>
#include <cmath>

#include "trainer/chat/jinja/characters.hpp"
#include "trainer/chat/jinja/functions.hpp"

namespace trainward::trainer::jinja {
namespace {

using V = const Value&;
using A = const Arguments&;
using B = Budget&;

// A test without arguments.
template <bool (*Holds)(V)>
Result<bool> plain(V of, A arguments, B /*budget*/) {
  if (!arguments.positional.empty() || !arguments.named.empty()) {
    return refused("this test takes no argument");
  }
  return Holds(of);
}

// The one argument of a test.
Result<Value> other(A arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    return refused("this test takes one argument");
  }
  return arguments.positional.front();
}

template <bool Wanted>
Result<bool> same(V of, A arguments, B budget) {
  auto with = other(arguments);
  if (!with) return propagate(with);
  if (auto ok = budget.spend(extent_of(of).weight); !ok) return propagate(ok);
  return equal(of, *with) == Wanted;
}

template <bool (*Holds)(int)>
Result<bool> ordered(V of, A arguments, B budget) {
  auto with = other(arguments);
  if (!with) return propagate(with);
  if (auto ok = budget.spend(extent_of(of).weight); !ok) return propagate(ok);
  auto order = compare(of, *with);
  if (!order) return propagate(order);
  return Holds(*order);
}

Result<bool> in(V of, A arguments, B budget) {
  auto whole = other(arguments);
  if (!whole) return propagate(whole);
  return contains(*whole, of, budget);
}

bool is_integer(V of) { return of.as<std::int64_t>() != nullptr; }
bool is_number(V of) {
  return is_integer(of) || of.as<double>() != nullptr || of.as<bool>() != nullptr;
}
bool is_list(V of) {
  const auto* sequence = of.as<Sequence>();
  return sequence != nullptr && sequence->kind != Sequence::Kind::generator &&
         sequence->kind != Sequence::Kind::view;
}
bool is_sequence(V of) {
  return is_list(of) || of.text() != nullptr || of.as<Mapping>() != nullptr || of.undefined();
}
bool is_iterable(V of) { return is_sequence(of) || of.as<Sequence>() != nullptr; }
bool is_callable(V of) { return of.as<Function>() != nullptr || of.as<const Macro*>() != nullptr; }
template <bool Wanted>
bool is_truth(V of) {
  return of.as<bool>() != nullptr && *of.as<bool>() == Wanted;
}
// As str.isupper() and str.islower(): letters of this case, and none of the other.
template <Case Wanted>
Result<bool> in_one_case(V of, A arguments, B budget) {
  if (!arguments.positional.empty() || !arguments.named.empty()) {
    return refused("this test takes no argument");
  }
  auto text = printed(of, budget);
  if (!text) return propagate(text);
  const std::string_view bytes = text->bytes();
  bool any = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view character = bytes.substr(at, character_bytes(bytes.substr(at)));
    if (has_case(character)) {
      if (in_case(character, Wanted) != character) return false;
      any = true;
    }
    at += character.size();
  }
  return any;
}

// What is left of the number when it is divided by the other, as % has it.
Result<double> rest(V of, V by) {
  if (!is_number(of) || !is_number(by)) {
    return refused(fmt::format("dividing {} by {} is not supported", kind_name(of), kind_name(by)));
  }
  const auto number = [](V value) {
    if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
    if (const auto* real = value.as<double>()) return *real;
    return *value.as<bool>() ? 1.0 : 0.0;
  };
  const double divisor = number(by);
  if (divisor == 0) return refused("nothing is divisible by zero");
  const auto* whole = of.as<std::int64_t>();
  const auto* whole_divisor = by.as<std::int64_t>();
  if (whole != nullptr && whole_divisor != nullptr) {
    return *whole_divisor == -1 ? 0.0 : static_cast<double>(*whole % *whole_divisor);
  }
  return std::fmod(number(of), divisor);
}
template <int Rest>
Result<bool> parity(V of, A arguments, B /*budget*/) {
  if (!arguments.positional.empty() || !arguments.named.empty()) {
    return refused("this test takes no argument");
  }
  auto left = rest(of, Value(std::int64_t{2}));
  if (!left) return propagate(left);
  return *left == Rest || *left == -Rest;
}
Result<bool> divisible(V of, A arguments, B /*budget*/) {
  auto by = other(arguments);
  if (!by) return propagate(by);
  auto left = rest(of, *by);
  if (!left) return propagate(left);
  return *left == 0;
}

bool less(int order) { return order < 0; }
bool at_most(int order) { return order <= 0; }
bool greater(int order) { return order > 0; }
bool at_least(int order) { return order >= 0; }

const std::array test_entries = {
    TestEntry{"defined", plain<[](V v) { return !v.undefined(); }>},
    TestEntry{"undefined", plain<[](V v) { return v.undefined(); }>},
    TestEntry{"none", plain<[](V v) { return v.as<None>() != nullptr; }>},
    TestEntry{"string", plain<[](V v) { return v.text() != nullptr; }>},
    TestEntry{"mapping", plain<[](V v) { return v.as<Mapping>() != nullptr; }>},
    TestEntry{"iterable", plain<is_iterable>},
    TestEntry{"sequence", plain<is_sequence>},
    TestEntry{"number", plain<is_number>},
    TestEntry{"integer", plain<is_integer>},
    TestEntry{"float", plain<[](V v) { return v.as<double>() != nullptr; }>},
    TestEntry{"boolean", plain<[](V v) { return v.as<bool>() != nullptr; }>},
    TestEntry{"callable", plain<is_callable>},
    TestEntry{"true", plain<is_truth<true>>},
    TestEntry{"false", plain<is_truth<false>>},
    TestEntry{"upper", in_one_case<Case::upper>},
    TestEntry{"lower", in_one_case<Case::lower>},
    TestEntry{"odd", parity<1>},
    TestEntry{"even", parity<0>},
    TestEntry{"divisibleby", divisible},
    TestEntry{"in", in},
    TestEntry{"eq", same<true>},
    TestEntry{"equalto", same<true>},
    TestEntry{"==", same<true>},
    TestEntry{"ne", same<false>},
    TestEntry{"!=", same<false>},
    TestEntry{"lt", ordered<less>},
    TestEntry{"lessthan", ordered<less>},
    TestEntry{"<", ordered<less>},
    TestEntry{"le", ordered<at_most>},
    TestEntry{"<=", ordered<at_most>},
    TestEntry{"gt", ordered<greater>},
    TestEntry{"greaterthan", ordered<greater>},
    TestEntry{">", ordered<greater>},
    TestEntry{"ge", ordered<at_least>},
    TestEntry{">=", ordered<at_least>},
};

}  // namespace

const TestEntry* find_test(std::string_view name) {
  const auto* const found =
      std::find_if(test_entries.begin(), test_entries.end(),
                   [&](const TestEntry& entry) { return entry.name == name; });
  return found == test_entries.end() ? nullptr : found;
}

}  // namespace trainward::trainer::jinja
