// Filters that give a text or a number.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "common/base/number_in.hpp"
#include "trainer/chat/jinja/characters.hpp"
#include "trainer/chat/jinja/functions.hpp"

namespace trainward::trainer::jinja {
namespace {

using V = const Value&;
using A = const Arguments&;
using B = Budget&;

// The value as text, whatever it is, and what is made of that.
template <typename Change>
Result<Value> changed(V of, A arguments, B budget, Change change) {
  if (auto bound = in_order(arguments, no_names); !bound) return propagate(bound);
  auto text = printed(of, budget);
  if (!text) return propagate(text);
  if (auto ok = budget.text(text->size()); !ok) return propagate(ok);
  return Value(change(*text));
}

Result<Value> trim(V of, A arguments, B budget) {
  static constexpr std::array<std::string_view, 1> names{"chars"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  auto text = printed(of, budget);
  if (!text) return propagate(text);
  std::optional<std::string> characters;
  if (bound->front() && bound->front()->as<None>() == nullptr) {
    if (bound->front()->text() == nullptr) return refused("trim takes a text of characters");
    characters = std::string(bound->front()->text()->bytes());
  }
  return Value(stripped(*text, characters, true, true));
}

// Each word's first letter upper, the rest lower; words end at white space, - ( { [ and <.
Text words_titled(const Text& text) {
  Text made;
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.bytes().substr(at);
    const std::string_view character = rest.substr(0, character_bytes(rest));
    made.append(in_case(character, first ? Case::upper : Case::lower), text.mark_at(at));
    first =
        is_space(character) || std::string_view("-({[<").find(character) != std::string_view::npos;
    at += character.size();
  }
  return made;
}

Result<Value> replace(V of, A arguments, B budget) {
  static constexpr std::array<std::string_view, 3> names{"old", "new", "count"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  const auto& [from, to, most] = std::tie((*bound)[0], (*bound)[1], (*bound)[2]);
  if (!from || !to) return refused("replace needs two texts: the old and the new");
  auto text = printed(of, budget);
  auto old_text = printed(*from, budget);
  auto new_text = printed(*to, budget);
  if (!text) return propagate(text);
  if (!old_text) return propagate(old_text);
  if (!new_text) return propagate(new_text);
  std::int64_t count = -1;
  if (most && most->as<None>() == nullptr) {
    if (most->as<std::int64_t>() == nullptr) return refused("replace counts with a number");
    count = *most->as<std::int64_t>();
  }
  auto made = replaced(*text, *old_text, *new_text, count, budget);
  if (!made) return propagate(made);
  return Value(std::move(*made));
}

std::string_view without_space(std::string_view text) {
  text.remove_prefix(space_before(text));
  text.remove_suffix(space_after(text));
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  return text;
}

std::optional<std::int64_t> whole(double number) {
  if (!(std::abs(number) < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> as_integer(V of) {
  if (const auto* truth = of.as<bool>()) return *truth ? 1 : 0;
  if (const auto* integer = of.as<std::int64_t>()) return *integer;
  if (const auto* real = of.as<double>()) return whole(*real);
  if (of.text() == nullptr) return std::nullopt;
  if (const auto integer = number_in<std::int64_t>(without_space(of.text()->bytes())))
    return integer;
  const auto real = number_in<double>(without_space(of.text()->bytes()));
  return real ? whole(*real) : std::nullopt;
}

std::optional<double> as_real(V of) {
  if (const auto* real = of.as<double>()) return *real;
  if (of.text() != nullptr) return number_in<double>(without_space(of.text()->bytes()));
  const auto integer = as_integer(of);
  return integer ? std::optional<double>(static_cast<double>(*integer)) : std::nullopt;
}

Result<Value> to_integer(V of, A arguments, B /*budget*/) {
  static constexpr std::array<std::string_view, 1> names{"default"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  if (const auto* nothing = of.as<Undefined>()) {
    return refused(fmt::format("'{}' is undefined, and no number", nothing->name));
  }
  if (const auto integer = as_integer(of)) return Value(*integer);
  if (as_real(of)) return refused("a number beyond 64 bits");
  return bound->front().value_or(Value(std::int64_t{0}));
}

Result<Value> to_real(V of, A arguments, B /*budget*/) {
  static constexpr std::array<std::string_view, 1> names{"default"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  if (const auto* nothing = of.as<Undefined>()) {
    return refused(fmt::format("'{}' is undefined, and no number", nothing->name));
  }
  if (const auto real = as_real(of)) return Value(*real);
  return bound->front().value_or(Value(0.0));
}

Result<Value> to_json(V of, A arguments, B budget) {
  static constexpr std::array<std::string_view, 3> names{"ensure_ascii", "indent", "separators"};
  auto bound = in_order(arguments, names);
  if (!bound) return propagate(bound);
  const auto& [ascii, indent, separators] = std::tie((*bound)[0], (*bound)[1], (*bound)[2]);
  if (ascii && truth(*ascii)) return refused("tojson with ensure_ascii is not supported");
  JsonStyle style;
  if (indent && indent->as<None>() == nullptr) {
    const auto* spaces = indent->as<std::int64_t>();
    if (spaces == nullptr || *spaces < 0 || *spaces > 16) {
      return refused("tojson indents by a number of spaces up to 16");
    }
    style.lines = true;
    style.indent.assign(static_cast<std::size_t>(*spaces), ' ');
    style.item_end = ",";
  }
  if (separators && separators->as<None>() == nullptr) {
    const auto* pair = separators->as<Sequence>();
    const bool texts = pair != nullptr && pair->items->size() == 2 &&
                       pair->items->front().text() != nullptr &&
                       pair->items->back().text() != nullptr;
    if (!texts) return refused("tojson takes two texts as separators");
    style.item_end = pair->items->front().text()->bytes();
    style.key_end = pair->items->back().text()->bytes();
  }
  auto text = json_text(of, style, budget);
  if (!text) return propagate(text);
  return Value(std::move(*text));
}

const std::array text_entries = {
    FilterEntry{"trim", trim},
    FilterEntry{"upper",
                [](V v, A a, B b) {
                  return changed(v, a, b, [](const Text& t) { return in_case(t, Case::upper); });
                }},
    FilterEntry{"lower",
                [](V v, A a, B b) {
                  return changed(v, a, b, [](const Text& t) { return in_case(t, Case::lower); });
                }},
    FilterEntry{"title", [](V v, A a, B b) { return changed(v, a, b, words_titled); }},
    FilterEntry{"capitalize", [](V v, A a, B b) { return changed(v, a, b, capitalized); }},
    FilterEntry{"string",
                [](V v, A a, B b) { return changed(v, a, b, [](const Text& t) { return t; }); }},
    FilterEntry{"safe",
                [](V v, A a, B b) { return changed(v, a, b, [](const Text& t) { return t; }); }},
    FilterEntry{"replace", replace},
    FilterEntry{"int", to_integer},
    FilterEntry{"float", to_real},
    FilterEntry{"tojson", to_json},
};

}  // namespace

std::span<const FilterEntry> text_filters() { return text_entries; }

Text stripped(const Text& text, const std::optional<std::string>& characters, bool left,
              bool right) {
  const auto bounds = character_bounds(text.bytes());
  const auto goes = [&](std::size_t i) {
    const std::string_view one = text.bytes().substr(bounds[i], bounds[i + 1] - bounds[i]);
    return characters ? characters->find(one) != std::string::npos : is_space(one);
  };
  std::size_t begin = 0;
  std::size_t end = bounds.size() - 1;
  while (left && begin < end && goes(begin)) ++begin;
  while (right && begin < end && goes(end - 1)) --end;
  return text.slice(bounds[begin], bounds[end]);
}

Result<Text> replaced(const Text& text, const Text& from, const Text& to, std::int64_t most,
                      Budget& budget) {
  if (from.empty()) return refused("replacing an empty text is not supported");
  Text made;
  std::size_t at = 0;
  for (std::int64_t count = 0; count != most; ++count) {
    const std::size_t found = text.bytes().find(from.bytes(), at);
    if (found == std::string_view::npos) break;
    made.append(text.slice(at, found));
    made.append(to);
    if (auto ok = budget.spend(1 + to.size() / 32); !ok) return propagate(ok);
    at = found + from.size();
  }
  made.append(text.slice(at, text.size()));
  if (auto ok = budget.text(made.size()); !ok) return propagate(ok);
  return made;
}

}  // namespace trainward::trainer::jinja
