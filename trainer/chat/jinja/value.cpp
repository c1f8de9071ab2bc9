#include "trainer/chat/jinja/value.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/cases.hpp"
#include "trainer/chat/jinja/characters.hpp"

namespace trainward::trainer::jinja {
namespace {

// Of something that holds these values.
template <typename Range, typename Of>
Result<Extent> extent_around(const Range& range, const Of& of) {
  Extent all{0, 1};
  for (const auto& item : range) {
    const Extent one = of(item);
    all.depth = std::max(all.depth, one.depth);
    all.weight += one.weight;
  }
  ++all.depth;
  if (all.depth > max_value_depth) {
    return fail(ErrorKind::usage, "values of the template hold each other more than 64 deep");
  }
  if (all.weight > max_weight) {
    return fail(ErrorKind::usage, "a value of the template holds more than a million others");
  }
  return all;
}

// Truth values are numbers here, as they are in Python.
std::optional<double> number(const Value& value) {
  if (const auto* truth = value.as<bool>()) return *truth ? 1 : 0;
  if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = value.as<double>()) return *real;
  return std::nullopt;
}

std::optional<std::int64_t> integer(const Value& value) {
  if (const auto* truth = value.as<bool>()) return *truth ? 1 : 0;
  if (const auto* held = value.as<std::int64_t>()) return *held;
  return std::nullopt;
}

bool equal_items(const Items& a, const Items& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

bool equal_entries(const Mapping& a, const Mapping& b) {
  if (a.entries->size() != b.entries->size()) return false;
  return std::all_of(a.entries->begin(), a.entries->end(), [&](const auto& entry) {
    const Value* const other = find(b, entry.first);
    return other != nullptr && equal(entry.second, *other);
  });
}

tl::unexpected<Error> no_order(const Value& a, const Value& b) {
  return fail(ErrorKind::usage, fmt::format("{} and {} have no order", kind_name(a), kind_name(b)));
}

int sign(auto difference_of, auto and_this) {
  return difference_of < and_this ? -1 : difference_of > and_this ? 1 : 0;
}

}  // namespace

Extent extent_of(const Value& value) {
  if (const auto* sequence = value.as<Sequence>()) return sequence->extent;
  if (const auto* mapping = value.as<Mapping>()) return mapping->extent;
  if (const Text* text = value.text()) return {0, 1 + text->size() / 64};
  if (const auto* loop = value.as<std::shared_ptr<const Loop>>()) {
    const Extent items = (*loop)->items.extent;
    return {items.depth + 1, items.weight + 1};
  }
  return {};
}

Result<Value> sequence(Items items, Budget& budget, Sequence::Kind kind) {
  if (auto ok = budget.items(items.size()); !ok) return propagate(ok);
  auto extent = extent_around(items, extent_of);
  if (!extent) return propagate(extent);
  return Value(Sequence{kind, std::make_shared<const Items>(std::move(items)), *extent});
}

bool is_key(const Value& value) {
  return value.text() != nullptr || value.as<None>() != nullptr || number(value);
}

Result<Value> mapping(Entries entries, Budget& budget) {
  // Keys are looked for one by one: mappings of templates are small, and large ones are dear.
  if (auto ok = budget.items(entries.size()); !ok) return propagate(ok);
  Entries kept;
  for (auto& entry : entries) {
    const Value& key = entry.first;
    if (!is_key(key)) {
      return fail(ErrorKind::usage, fmt::format("{} cannot be a key of a mapping", kind_name(key)));
    }
    if (auto ok = budget.spend(1 + kept.size() / 8); !ok) return propagate(ok);
    const auto same = std::find_if(kept.begin(), kept.end(),
                                   [&](const auto& one) { return equal(one.first, key); });
    if (same != kept.end()) {
      same->second = std::move(entry.second);
    } else {
      kept.push_back(std::move(entry));
    }
  }
  auto extent = extent_around(kept, [](const auto& entry) {
    return Extent{extent_of(entry.second).depth,
                  extent_of(entry.first).weight + extent_of(entry.second).weight};
  });
  if (!extent) return propagate(extent);
  return Value(Mapping{std::make_shared<const Entries>(std::move(kept)), *extent});
}

Result<Value> from_json(const json::value& value, Mark mark, Budget& budget) {
  switch (value.kind()) {
    case json::kind::null:
      return Value(None{});
    case json::kind::bool_:
      return Value(value.get_bool());
    case json::kind::int64:
      return Value(value.get_int64());
    case json::kind::uint64:
      return Value(static_cast<double>(value.get_uint64()));
    case json::kind::double_:
      return Value(value.get_double());
    case json::kind::string:
      return Value(Text(view(value.get_string()), mark));
    case json::kind::array: {
      Items items;
      for (const json::value& item : value.get_array()) {
        auto made = from_json(item, mark, budget);
        if (!made) return made;
        items.push_back(std::move(*made));
      }
      return sequence(std::move(items), budget);
    }
    case json::kind::object: {
      Entries entries;
      for (const auto& member : value.get_object()) {
        auto made = from_json(member.value(), mark, budget);
        if (!made) return made;
        entries.emplace_back(Value(Text(view(member.key()), mark)), std::move(*made));
      }
      return mapping(std::move(entries), budget);
    }
  }
  return Value();
}

std::string_view kind_name(const Value& value) {
  return std::visit(
      Cases{[](const Undefined&) -> std::string_view { return "undefined"; },
            [](const None&) -> std::string_view { return "none"; },
            [](bool) -> std::string_view { return "a truth value"; },
            [](std::int64_t) -> std::string_view { return "an integer"; },
            [](double) -> std::string_view { return "a number"; },
            [](const std::shared_ptr<const Text>&) -> std::string_view { return "a text"; },
            [](const Sequence& sequence) -> std::string_view {
              switch (sequence.kind) {
                case Sequence::Kind::list:
                  return "a list";
                case Sequence::Kind::tuple:
                  return "a tuple";
                case Sequence::Kind::range:
                  return "a range";
                case Sequence::Kind::view:
                  return "what a mapping holds";
                case Sequence::Kind::generator:
                  break;
              }
              return "what a filter gives item by item";
            },
            [](const Mapping&) -> std::string_view { return "a mapping"; },
            [](NamespaceName) -> std::string_view { return "a namespace"; },
            [](Function) -> std::string_view { return "a function"; },
            [](const Macro*) -> std::string_view { return "a macro"; },
            [](const std::shared_ptr<const Loop>&) -> std::string_view { return "a loop"; }},
      value.is());
}

bool truth(const Value& value) {
  return std::visit(
      Cases{[](const Undefined&) { return false; }, [](const None&) { return false; },
            [](bool held) { return held; }, [](std::int64_t held) { return held != 0; },
            [](double held) { return held != 0; },
            [](const std::shared_ptr<const Text>& text) { return !text->empty(); },
            [](const Sequence& sequence) {
              return sequence.kind == Sequence::Kind::generator || !sequence.items->empty();
            },
            [](const Mapping& mapping) { return !mapping.entries->empty(); },
            [](const auto&) { return true; }},
      value.is());
}

bool equal(const Value& a, const Value& b) {
  if (const auto i = integer(a), j = integer(b); i && j) return *i == *j;
  if (const auto x = number(a), y = number(b); x && y) return *x == *y;
  if (a.text() != nullptr && b.text() != nullptr) return a.text()->bytes() == b.text()->bytes();
  if (a.is().index() != b.is().index()) return false;
  return std::visit(
      Cases{[](const Undefined&) { return true; }, [](const None&) { return true; },
            [&](const Sequence& sequence) {
              const auto& other = *b.as<Sequence>();
              return sequence.kind == other.kind && equal_items(*sequence.items, *other.items);
            },
            [&](const Mapping& mapping) { return equal_entries(mapping, *b.as<Mapping>()); },
            [&](NamespaceName held) { return held.number == b.as<NamespaceName>()->number; },
            [&](Function held) { return held.id == b.as<Function>()->id; },
            [&](const Macro* held) { return held == *b.as<const Macro*>(); },
            [](const auto&) { return false; }},
      a.is());
}

Result<int> compare(const Value& a, const Value& b) {
  if (const auto i = integer(a), j = integer(b); i && j) return sign(*i, *j);
  if (const auto x = number(a), y = number(b); x && y) {
    if (std::isnan(*x) || std::isnan(*y)) return no_order(a, b);
    return sign(*x, *y);
  }
  // Bytes of UTF-8 are in the order of their characters.
  if (a.text() != nullptr && b.text() != nullptr) {
    return sign(a.text()->bytes().compare(b.text()->bytes()), 0);
  }
  const auto* left = a.as<Sequence>();
  const auto* right = b.as<Sequence>();
  const bool lists = left != nullptr && right != nullptr && left->kind == right->kind &&
                     (left->kind == Sequence::Kind::list || left->kind == Sequence::Kind::tuple);
  if (!lists) return no_order(a, b);
  const std::size_t common = std::min(left->items->size(), right->items->size());
  for (std::size_t i = 0; i < common; ++i) {
    const Value& x = (*left->items)[i];
    const Value& y = (*right->items)[i];
    if (!equal(x, y)) return compare(x, y);
  }
  return sign(left->items->size(), right->items->size());
}

const Value* find(const Mapping& mapping, const Value& key) {
  for (const auto& [name, value] : *mapping.entries) {
    if (equal(name, key)) return &value;
  }
  return nullptr;
}

const Value* find(const Mapping& mapping, std::string_view key) {
  for (const auto& [name, value] : *mapping.entries) {
    if (name.text() != nullptr && name.text()->bytes() == key) return &value;
  }
  return nullptr;
}

Result<Sequence> iterate(const Value& value, Budget& budget) {
  if (const auto* sequence = value.as<Sequence>()) return *sequence;
  Items items;
  if (const auto* mapping = value.as<Mapping>()) {
    for (const auto& entry : *mapping->entries) items.push_back(entry.first);
  } else if (const Text* text = value.text()) {
    const auto bounds = character_bounds(text->bytes());
    if (auto ok = budget.items(bounds.size() - 1); !ok) return propagate(ok);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      items.emplace_back(text->slice(bounds[i], bounds[i + 1]));
    }
  } else if (!value.undefined()) {
    return fail(ErrorKind::usage, fmt::format("{} has no items to go through", kind_name(value)));
  }
  auto made = sequence(std::move(items), budget);
  if (!made) return propagate(made);
  return *made->as<Sequence>();
}

}  // namespace trainward::trainer::jinja
