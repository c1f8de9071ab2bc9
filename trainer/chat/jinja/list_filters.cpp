// Filters over items: of lists, of the keys of mappings, of the characters of texts.
#include <algorithm>
#include <array>
#include <functional>

#include "trainer/chat/jinja/characters.hpp"
#include "trainer/chat/jinja/functions.hpp"

namespace trainward::trainer::jinja {
namespace {

using V = const Value&;
using A = const Arguments&;
using B = Budget&;
using Kind = Sequence::Kind;

Result<Value> length(V of, A arguments, B budget) {
  if (auto bound = in_order(arguments, no_names); !bound) return propagate(bound);
  std::size_t count = 0;
  if (const Text* text = of.text()) {
    if (auto ok = budget.text(text->size()); !ok) return propagate(ok);
    count = character_count(text->bytes());
  } else if (const auto* mapping = of.as<Mapping>()) {
    count = mapping->entries->size();
  } else if (const auto* items = of.as<Sequence>();
             items != nullptr && items->kind != Kind::generator) {
    count = items->items->size();
  } else if (!of.undefined()) {
    return refused(fmt::format("{} has no length", kind_name(of)));
  }
  return Value(static_cast<std::int64_t>(count));
}

Result<Value> default_value(V of, A arguments, B /*budget*/) {
  static constexpr std::array<std::string_view, 2> names{"default_value", "boolean"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  const bool also_false = (*bound)[1] && truth(*(*bound)[1]);
  if (!of.undefined() && !(also_false && !truth(of))) return of;
  return (*bound)[0].value_or(Value(Text()));
}

Result<Value> end_item(V of, A arguments, B budget, bool last) {
  if (auto bound = in_order(arguments, no_names); !bound) return propagate(bound);
  if (const auto* items = of.as<Sequence>();
      last && items != nullptr && items->kind == Kind::generator) {
    return refused("last of what a filter gives item by item; make it a list first");
  }
  auto items = iterate(of, budget);
  if (!items) return propagate(items);
  if (items->items->empty()) return undefined(last ? "the last item" : "the first item");
  return last ? items->items->back() : items->items->front();
}

// The member at `attribute` of an item, or the item itself.
Result<Value> part_of(V item_of, const std::optional<Value>& attribute, B budget) {
  if (!attribute || attribute->as<None>() != nullptr) return item_of;
  if (attribute->as<std::int64_t>() != nullptr) return item(item_of, *attribute, budget);
  if (attribute->text() == nullptr) return refused("an attribute is named by a text");
  return item_at(item_of, attribute->text()->bytes(), budget);
}

Result<Value> join(V of, A arguments, B budget) {
  static constexpr std::array<std::string_view, 2> names{"d", "attribute"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  auto between = printed((*bound)[0].value_or(Value(Text())), budget);
  if (!between) return propagate(between);
  auto items = iterate(of, budget);
  if (!items) return propagate(items);
  Text made;
  bool first = true;
  for (const Value& one : *items->items) {
    if (!first) made.append(*between);
    first = false;
    auto part = part_of(one, (*bound)[1], budget);
    if (!part) return part;
    auto text = printed(*part, budget);
    if (!text) return propagate(text);
    made.append(*text);
    if (auto ok = budget.spend(1 + between->size() / 32); !ok) return propagate(ok);
    if (made.size() > max_text_bytes) break;
  }
  if (auto ok = budget.text(made.size()); !ok) return propagate(ok);
  return Value(std::move(made));
}

Result<Value> to_list(V of, A arguments, B budget) {
  if (auto bound = in_order(arguments, no_names); !bound) return propagate(bound);
  auto items = iterate(of, budget);
  if (!items) return propagate(items);
  return sequence(*items->items, budget);
}

Result<Value> pairs(V of, A arguments, B budget) {
  if (auto bound = in_order(arguments, no_names); !bound) return propagate(bound);
  if (!of.undefined() && of.as<Mapping>() == nullptr) {
    return refused(fmt::format("{} has no pairs of keys and values", kind_name(of)));
  }
  if (of.undefined()) return sequence({}, budget, Kind::generator);
  auto listed = call_method(of, "items", {}, budget);
  if (!listed) return listed;
  return sequence(*listed->as<Sequence>()->items, budget, Kind::generator);
}

// The first argument, taken off: the name of a filter, test or attribute.
Result<std::string> take_name(Arguments& arguments, std::string_view of) {
  if (arguments.positional.empty() || arguments.positional.front().text() == nullptr) {
    return refused(fmt::format("{} lacks a name", of));
  }
  std::string name(arguments.positional.front().text()->bytes());
  arguments.positional.erase(arguments.positional.begin());
  return name;
}

// What map and choices go through: nothing for whatever is not true, even if it has no items.
Result<Sequence> items_or_none(V of, B budget) {
  return iterate(truth(of) ? of : undefined("items"), budget);
}

Result<Value> map(V of, A arguments, B budget) {
  static constexpr std::array<std::string_view, 2> names{"attribute", "default"};
  auto items = items_or_none(of, budget);
  if (!items) return propagate(items);
  std::function<Result<Value>(V)> change;
  if (arguments.positional.empty()) {
    auto bound = in_order(arguments, names);
    if (!bound) return propagate(bound);
    change = [bound = *bound, &budget](V one) -> Result<Value> {
      auto part = part_of(one, bound[0], budget);
      return part && part->undefined() && bound[1] ? *bound[1] : part;
    };
  } else {
    Arguments rest = arguments;
    auto name = take_name(rest, "map");
    if (!name) return propagate(name);
    const FilterEntry* const filter = find_filter(*name);
    if (filter == nullptr) return refused(fmt::format("the filter '{}' is not supported", *name));
    change = [filter, rest, &budget](V one) { return filter->apply(one, rest, budget); };
  }
  Items made;
  for (const Value& one : *items->items) {
    if (auto ok = budget.spend(1); !ok) return propagate(ok);
    auto changed = change(one);
    if (!changed) return changed;
    made.push_back(std::move(*changed));
  }
  return sequence(std::move(made), budget, Kind::generator);
}

// select, reject and their like: the items for which a test holds, or does not.
Result<Value> chosen(V of, A arguments, B budget, bool by_attribute, bool wanted) {
  Arguments rest = arguments;
  if (!rest.named.empty()) return refused("a choice of items takes no argument by name");
  std::optional<Value> attribute;
  if (by_attribute) {
    auto name = take_name(rest, "a choice by attribute");
    if (!name) return propagate(name);
    attribute = Value(Text(*name));
  }
  const TestEntry* test = nullptr;
  if (!rest.positional.empty()) {
    auto name = take_name(rest, "a choice by test");
    if (!name) return propagate(name);
    test = find_test(*name);
    if (test == nullptr) return refused(fmt::format("the test '{}' is not supported", *name));
  }
  auto items = items_or_none(of, budget);
  if (!items) return propagate(items);
  Items kept;
  for (const Value& one : *items->items) {
    if (auto ok = budget.spend(1); !ok) return propagate(ok);
    auto part = part_of(one, attribute, budget);
    if (!part) return part;
    auto holds = test != nullptr ? test->holds(*part, rest, budget) : Result<bool>(truth(*part));
    if (!holds) return propagate(holds);
    if (*holds == wanted) kept.push_back(one);
  }
  return sequence(std::move(kept), budget, Kind::generator);
}

// What items are compared by: texts without regard to case, unless that counts.
Result<std::vector<Value>> keys_of(const Items& items, const std::optional<Value>& attribute,
                                   bool case_counts, B budget) {
  std::vector<Value> keys;
  for (const Value& one : items) {
    if (auto ok = budget.spend(extent_of(one).weight); !ok) return propagate(ok);
    auto part = part_of(one, attribute, budget);
    if (!part) return propagate(part);
    const Text* const text = case_counts ? nullptr : part->text();
    keys.push_back(text != nullptr ? Value(in_case(*text, Case::lower)) : *part);
  }
  return keys;
}

Result<Value> unique(V of, A arguments, B budget) {
  static constexpr std::array<std::string_view, 2> names{"case_sensitive", "attribute"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  auto items = iterate(of, budget);
  if (!items) return propagate(items);
  auto keys = keys_of(*items->items, (*bound)[1], (*bound)[0] && truth(*(*bound)[0]), budget);
  if (!keys) return propagate(keys);
  Items kept;
  std::vector<Value> seen;
  std::size_t weight = 0;
  for (std::size_t i = 0; i < keys->size(); ++i) {
    if (auto ok = budget.spend(1 + weight); !ok) return propagate(ok);
    const Value& key = (*keys)[i];
    if (std::any_of(seen.begin(), seen.end(), [&](const Value& one) { return equal(one, key); })) {
      continue;
    }
    weight += extent_of(key).weight;
    seen.push_back(key);
    kept.push_back((*items->items)[i]);
  }
  return sequence(std::move(kept), budget, Kind::generator);
}

// A merge sort, which keeps the order of equal items and can end early with an error.
Status sort_places(std::vector<std::size_t>& places, const std::vector<Value>& keys, bool reverse,
                   B budget) {
  std::optional<Error> trouble;
  std::vector<std::size_t> room(places.size());
  for (std::size_t width = 1; width < places.size(); width *= 2) {
    for (std::size_t begin = 0; begin < places.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, places.size());
      const std::size_t end = std::min(begin + 2 * width, places.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t to = begin; to < end; ++to) {
        bool take_right = left == middle;
        if (!take_right && right < end) {
          const Value& a = keys[places[left]];
          const Value& b = keys[places[right]];
          if (auto ok = budget.spend(std::min(extent_of(a).weight, extent_of(b).weight)); !ok)
            return ok;
          auto order = compare(a, b);
          if (!order) return propagate(order);
          take_right = reverse ? *order < 0 : *order > 0;
        }
        room[to] = take_right ? places[right++] : places[left++];
      }
    }
    places.swap(room);
  }
  return {};
}

Result<Value> sort(V of, A arguments, B budget) {
  static constexpr std::array<std::string_view, 3> names{"reverse", "case_sensitive", "attribute"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  const auto& attribute = (*bound)[2];
  if (attribute && attribute->text() != nullptr &&
      attribute->text()->bytes().find(',') != std::string_view::npos) {
    return refused("sort by several attributes is not supported");
  }
  auto items = iterate(of, budget);
  if (!items) return propagate(items);
  auto keys = keys_of(*items->items, attribute, (*bound)[1] && truth(*(*bound)[1]), budget);
  if (!keys) return propagate(keys);
  std::vector<std::size_t> places(keys->size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  const bool reverse = (*bound)[0] && truth(*(*bound)[0]);
  if (auto ok = sort_places(places, *keys, reverse, budget); !ok) return propagate(ok);
  Items sorted;
  for (const std::size_t place : places) sorted.push_back((*items->items)[place]);
  return sequence(std::move(sorted), budget);
}

Result<Value> reverse(V of, A arguments, B budget) {
  if (auto bound = in_order(arguments, no_names); !bound) return propagate(bound);
  auto items = iterate(of, budget);
  if (!items) return propagate(items);
  Items reversed(items->items->rbegin(), items->items->rend());
  if (of.text() == nullptr) return sequence(std::move(reversed), budget, Kind::generator);
  Text made;
  for (const Value& character : reversed) made.append(*character.text());
  return Value(std::move(made));
}

const std::array list_entries = {
    FilterEntry{"length", length},
    FilterEntry{"count", length},
    FilterEntry{"default", default_value},
    FilterEntry{"d", default_value},
    FilterEntry{"first", [](V v, A a, B b) { return end_item(v, a, b, false); }},
    FilterEntry{"last", [](V v, A a, B b) { return end_item(v, a, b, true); }},
    FilterEntry{"join", join},
    FilterEntry{"list", to_list},
    FilterEntry{"items", pairs},
    FilterEntry{"map", map},
    FilterEntry{"select", [](V v, A a, B b) { return chosen(v, a, b, false, true); }},
    FilterEntry{"reject", [](V v, A a, B b) { return chosen(v, a, b, false, false); }},
    FilterEntry{"selectattr", [](V v, A a, B b) { return chosen(v, a, b, true, true); }},
    FilterEntry{"rejectattr", [](V v, A a, B b) { return chosen(v, a, b, true, false); }},
    FilterEntry{"unique", unique},
    FilterEntry{"sort", sort},
    FilterEntry{"reverse", reverse},
};

}  // namespace

std::span<const FilterEntry> list_filters() { return list_entries; }

}  // namespace trainward::trainer::jinja
