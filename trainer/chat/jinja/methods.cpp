// Methods of texts and mappings.
#include <algorithm>
#include <array>

#include "trainer/chat/jinja/characters.hpp"
#include "trainer/chat/jinja/functions.hpp"

namespace trainward::trainer::jinja {
namespace {

using Bound = std::vector<std::optional<Value>>;
using Names = std::span<const std::string_view>;

// A string argument; nothing when it was left out or is Jinja's none.
Result<std::optional<Text>> text_argument(const std::optional<Value>& given) {
  if (!given || given->as<None>() != nullptr) return std::optional<Text>();
  if (given->text() == nullptr)
    return refused(fmt::format("{} where a text belongs", kind_name(*given)));
  return std::optional<Text>(*given->text());
}

Result<Text> required_text(const std::optional<Value>& given) {
  auto text = text_argument(given);
  if (!text) return propagate(text);
  if (!*text) return refused("a method lacks its text");
  return **text;
}

Result<std::int64_t> count_argument(const std::optional<Value>& given) {
  if (!given) return -1;
  const auto* count = given->as<std::int64_t>();
  if (count == nullptr) return refused(fmt::format("{} where a number belongs", kind_name(*given)));
  return *count;
}

// At white space: what str.split() gives without a separator.
Items split_at_space(const Text& text, std::int64_t most) {
  Items items;
  std::size_t at = space_before(text.bytes());
  while (at < text.size()) {
    if (most >= 0 && static_cast<std::int64_t>(items.size()) == most) {
      items.emplace_back(text.slice(at, text.size()));  // with the white space behind it
      break;
    }
    std::size_t end = at;
    while (end < text.size()) {
      const std::string_view rest = text.bytes().substr(end);
      const std::size_t length = character_bytes(rest);
      if (is_space(rest.substr(0, length))) break;
      end += length;
    }
    items.emplace_back(text.slice(at, end));
    at = end + space_before(text.bytes().substr(end));
  }
  return items;
}

Items split_at(const Text& text, std::string_view separator, std::int64_t most, bool from_right) {
  Items items;
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (most < 0 || static_cast<std::int64_t>(items.size()) < most) {
    const std::string_view rest = text.bytes().substr(begin, end - begin);
    const std::size_t found = from_right ? rest.rfind(separator) : rest.find(separator);
    if (found == std::string_view::npos) break;
    const std::size_t at = begin + found;
    if (from_right) {
      items.emplace_back(text.slice(at + separator.size(), end));
      end = at;
    } else {
      items.emplace_back(text.slice(begin, at));
      begin = at + separator.size();
    }
  }
  items.emplace_back(text.slice(begin, end));
  if (from_right) std::reverse(items.begin(), items.end());
  return items;
}

Result<Value> split(const Text& text, const Bound& arguments, bool from_right, Budget& budget) {
  auto separator = text_argument(arguments[0]);
  auto most = count_argument(arguments[1]);
  if (!separator) return propagate(separator);
  if (!most) return propagate(most);
  if (auto ok = budget.text(text.size() * 4); !ok) return propagate(ok);
  if (*separator && (*separator)->empty()) return refused("a text cannot be split at an empty one");
  if (!*separator && from_right && *most >= 0) {
    return refused("rsplit() with a number and no separator is not supported");
  }
  // Counted before they are made: each is an allocation.
  const std::size_t bound = std::max<std::size_t>(text.size() / 64, 1);
  if (auto ok = budget.spend(bound); !ok) return propagate(ok);
  return sequence(*separator ? split_at(text, (*separator)->bytes(), *most, from_right)
                             : split_at_space(text, *most),
                  budget);
}

// The bytes of the line end that a text starts with, by Python's rules; 0 if it starts with no
// line end.
std::size_t line_end(std::string_view text) {
  static constexpr std::array<std::string_view, 11> ends{
      "\r\n", "\r",   "\n",       "\v",           "\f",          "\x1c",
      "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
  for (const std::string_view end : ends) {
    if (text.starts_with(end)) return end.size();
  }
  return 0;
}

Result<Value> split_lines(const Text& text, Budget& budget) {
  Items items;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.bytes().substr(at);
    const std::size_t end = line_end(rest);
    if (end > 0) {
      items.emplace_back(text.slice(begin, at));
      begin = at + end;
    }
    at += end > 0 ? end : character_bytes(rest);
  }
  if (begin < text.size()) items.emplace_back(text.slice(begin, text.size()));
  return sequence(std::move(items), budget);
}

// Whether it begins or ends with a text, or with one of a tuple of them.
Result<Value> affixed(const Text& text, const std::optional<Value>& given, bool at_start) {
  if (!given) return refused("a method lacks its text");
  const auto fits = [&](const Value& one) {
    return one.text() != nullptr && (at_start ? text.bytes().starts_with(one.text()->bytes())
                                              : text.bytes().ends_with(one.text()->bytes()));
  };
  if (given->text() != nullptr) return Value(fits(*given));
  const auto* several = given->as<Sequence>();
  const bool texts = several != nullptr && several->kind == Sequence::Kind::tuple &&
                     std::all_of(several->items->begin(), several->items->end(),
                                 [](const Value& one) { return one.text() != nullptr; });
  if (!texts) {
    return refused(fmt::format("{} where a text belongs", kind_name(*given)));
  }
  return Value(std::any_of(several->items->begin(), several->items->end(), fits));
}

// The first letter of each run of letters upper, the others lower.
Text titled(const Text& text) {
  Text made;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.bytes().substr(at);
    const std::string_view character = rest.substr(0, character_bytes(rest));
    made.append(in_case(character, inside ? Case::lower : Case::title), text.mark_at(at));
    inside = has_case(character);
    at += character.size();
  }
  return made;
}

Result<Value> strip(const Text& text, const Bound& arguments, bool left, bool right) {
  auto characters = text_argument(arguments[0]);
  if (!characters) return propagate(characters);
  std::optional<std::string> set;
  if (*characters) set = std::string((*characters)->bytes());
  return Value(stripped(text, set, left, right));
}

Result<Value> replace(const Text& text, const Bound& arguments, Budget& budget) {
  auto from = required_text(arguments[0]);
  auto to = required_text(arguments[1]);
  auto most = count_argument(arguments[2]);
  if (!from) return propagate(from);
  if (!to) return propagate(to);
  if (!most) return propagate(most);
  auto made = replaced(text, *from, *to, *most, budget);
  if (!made) return propagate(made);
  return Value(std::move(*made));
}

// Where it is, in characters.
Result<Value> position(const Text& text, const Bound& arguments, bool last) {
  auto wanted = required_text(arguments[0]);
  if (!wanted) return propagate(wanted);
  const std::size_t at =
      last ? text.bytes().rfind(wanted->bytes()) : text.bytes().find(wanted->bytes());
  if (at == std::string_view::npos) return Value(std::int64_t{-1});
  return Value(static_cast<std::int64_t>(character_count(text.bytes().substr(0, at))));
}

Result<Value> without(const Text& text, const Bound& arguments, bool at_start) {
  auto affix = required_text(arguments[0]);
  if (!affix) return propagate(affix);
  const std::size_t size = affix->size();
  if (at_start && text.bytes().starts_with(affix->bytes()))
    return Value(text.slice(size, text.size()));
  if (!at_start && text.bytes().ends_with(affix->bytes()))
    return Value(text.slice(0, text.size() - size));
  return Value(text);
}

constexpr std::array<std::string_view, 1> one_name{"a text"};  // by position alone, as in Python
constexpr std::array<std::string_view, 2> split_names{"sep", "maxsplit"};
constexpr std::array<std::string_view, 3> replace_names{"a text", "another text", "count"};

using MethodFunction = Result<Value> (*)(const Text& text, const Bound& arguments, Budget& budget);
struct Method {
  std::string_view name;
  Names names;
  MethodFunction call;
};

using T = const Text&;
using P = const Bound&;
using B = Budget&;
const std::array text_methods = {
    Method{"strip", one_name, [](T t, P p, B) { return strip(t, p, true, true); }},
    Method{"lstrip", one_name, [](T t, P p, B) { return strip(t, p, true, false); }},
    Method{"rstrip", one_name, [](T t, P p, B) { return strip(t, p, false, true); }},
    Method{"split", split_names, [](T t, P p, B b) { return split(t, p, false, b); }},
    Method{"rsplit", split_names, [](T t, P p, B b) { return split(t, p, true, b); }},
    Method{"splitlines", no_names, [](T t, P, B b) { return split_lines(t, b); }},
    Method{"startswith", one_name, [](T t, P p, B) { return affixed(t, p[0], true); }},
    Method{"endswith", one_name, [](T t, P p, B) { return affixed(t, p[0], false); }},
    Method{"removeprefix", one_name, [](T t, P p, B) { return without(t, p, true); }},
    Method{"removesuffix", one_name, [](T t, P p, B) { return without(t, p, false); }},
    Method{"find", one_name, [](T t, P p, B) { return position(t, p, false); }},
    Method{"rfind", one_name, [](T t, P p, B) { return position(t, p, true); }},
    Method{"replace", replace_names, [](T t, P p, B b) { return replace(t, p, b); }},
    Method{"upper", no_names,
           [](T t, P, B) -> Result<Value> { return Value(in_case(t, Case::upper)); }},
    Method{"lower", no_names,
           [](T t, P, B) -> Result<Value> { return Value(in_case(t, Case::lower)); }},
    Method{"title", no_names, [](T t, P, B) -> Result<Value> { return Value(titled(t)); }},
    Method{"capitalize", no_names,
           [](T t, P, B) -> Result<Value> { return Value(capitalized(t)); }},
};

Result<Value> call_mapping_method(const Mapping& mapping, std::string_view name,
                                  const Arguments& arguments, Budget& budget) {
  if (name == "get") {
    static constexpr std::array<std::string_view, 2> names{"a key", "a default"};
    auto bound = in_order(arguments, names);
    if (!bound) return propagate(bound);
    if (!bound->front()) return refused("get() lacks its key");
    if (auto ok = budget.spend(1 + mapping.entries->size() / 8); !ok) return propagate(ok);
    const Value* const found = find(mapping, *bound->front());
    return found != nullptr ? *found : bound->back().value_or(Value(None{}));
  }
  if (auto bound = in_order(arguments, no_names); !bound) return propagate(bound);
  Items items;
  for (const auto& [key, value] : *mapping.entries) {
    if (name == "keys") {
      items.push_back(key);
    } else if (name == "values") {
      items.push_back(value);
    } else {
      auto pair = sequence({key, value}, budget, Sequence::Kind::tuple);
      if (!pair) return pair;
      items.push_back(std::move(*pair));
    }
  }
  return sequence(std::move(items), budget, Sequence::Kind::view);
}

}  // namespace

bool is_method(const Value& of, std::string_view name) {
  static constexpr std::array<std::string_view, 11> of_mapping = {
      "get",    "items",      "keys",  "values", "pop",     "popitem",
      "update", "setdefault", "clear", "copy",   "fromkeys"};
  if (of.as<Mapping>() != nullptr) {
    return std::find(of_mapping.begin(), of_mapping.end(), name) != of_mapping.end();
  }
  return of.text() != nullptr && std::any_of(text_methods.begin(), text_methods.end(),
                                             [&](const Method& one) { return one.name == name; });
}

Result<Value> call_text_method(const Text& of, std::string_view name, const Arguments& arguments,
                               Budget& budget) {
  const auto method = std::find_if(text_methods.begin(), text_methods.end(),
                                   [&](const Method& one) { return one.name == name; });
  if (method == text_methods.end()) {
    return refused(fmt::format("the method '{}' of a text is not supported", name));
  }
  auto bound = in_order(arguments, method->names);
  if (!bound) return propagate(bound);
  if (auto ok = budget.text(of.size()); !ok) return propagate(ok);
  return method->call(of, *bound, budget);
}

Result<Value> call_method(const Value& of, std::string_view name, const Arguments& arguments,
                          Budget& budget) {
  if (of.text() != nullptr) return call_text_method(*of.text(), name, arguments, budget);
  if (const auto* mapping = of.as<Mapping>()) {
    const bool reads = name == "get" || name == "items" || name == "keys" || name == "values";
    if (reads) return call_mapping_method(*mapping, name, arguments, budget);
  }
  if (const auto* nothing = of.as<Undefined>()) {
    return refused(fmt::format("'{}' of '{}', which is undefined", name, nothing->name));
  }
  return refused(fmt::format("the method '{}' of {} is not supported", name, kind_name(of)));
}

}  // namespace trainward::trainer::jinja
