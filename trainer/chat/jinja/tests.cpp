// What `is` can ask.
#include <algorithm>
#include <array>

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
  return sequence != nullptr && sequence->kind != Sequence::Kind::generator;
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

Result<std::int64_t> integer_of(V of) {
  if (const auto* integer = of.as<std::int64_t>()) return *integer;
  return refused(fmt::format("{} where an integer belongs", kind_name(of)));
}
template <std::int64_t Rest>
Result<bool> parity(V of, A /*arguments*/, B /*budget*/) {
  auto integer = integer_of(of);
  if (!integer) return propagate(integer);
  return (*integer % 2 != 0) == (Rest != 0);
}
Result<bool> divisible(V of, A arguments, B /*budget*/) {
  auto by = other(arguments);
  if (!by) return propagate(by);
  auto integer = integer_of(of);
  auto divisor = integer_of(*by);
  if (!integer) return propagate(integer);
  if (!divisor) return propagate(divisor);
  if (*divisor == 0) return refused("nothing is divisible by zero");
  return *divisor == -1 || *integer % *divisor == 0;
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
  const auto* const found = std::find_if(
      test_entries.begin(), test_entries.end(), [&](const TestEntry& entry) { return entry.name == name; });
  return found == test_entries.end() ? nullptr : found;
}

}  // namespace trainward::trainer::jinja
