#include "trainer/chat/jinja/functions.hpp"

#include <algorithm>
#include <charconv>

#include "trainer/chat/jinja/characters.hpp"

namespace trainward::trainer::jinja {
namespace {

template <typename Entry>
const Entry* find_in(std::span<const Entry> entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

Result<Value> text_item(const Text& text, std::int64_t index, Budget& budget) {
  if (auto ok = budget.text(text.size()); !ok) return propagate(ok);
  const auto bounds = character_bounds(text.bytes());
  const auto count = static_cast<std::int64_t>(bounds.size()) - 1;
  if (index < 0) index += count;
  if (index < 0 || index >= count) return undefined(std::to_string(index));
  const auto at = static_cast<std::size_t>(index);
  return Value(text.slice(bounds[at], bounds[at + 1]));
}

}  // namespace

Result<std::vector<std::optional<Value>>> in_order(const Arguments& arguments,
                                                   std::span<const std::string_view> names) {
  std::vector<std::optional<Value>> bound(names.size());
  if (arguments.positional.size() > names.size()) {
    return fail(ErrorKind::usage, fmt::format("{} arguments where there may be {}",
                                              arguments.positional.size(), names.size()));
  }
  std::copy(arguments.positional.begin(), arguments.positional.end(), bound.begin());
  for (const auto& [name, value] : arguments.named) {
    const auto at =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (at == names.size()) {
      return fail(ErrorKind::usage, fmt::format("the argument {} is not supported here", name));
    }
    if (bound[at])
      return fail(ErrorKind::usage, fmt::format("the argument {} is there twice", name));
    bound[at] = value;
  }
  return bound;
}

const FilterEntry* find_filter(std::string_view name) {
  const FilterEntry* const of_text = find_in(text_filters(), name);
  return of_text != nullptr ? of_text : find_in(list_filters(), name);
}

Result<Value> item(const Value& of, const Value& key, Budget& budget) {
  const auto* index = key.as<std::int64_t>();
  if (const auto* truth = key.as<bool>())
    return item(of, Value(std::int64_t{*truth ? 1 : 0}), budget);
  if (const Text* text = of.text(); text != nullptr && index != nullptr) {
    return text_item(*text, *index, budget);
  }
  if (const auto* sequence = of.as<Sequence>(); sequence != nullptr && index != nullptr) {
    const bool has_places =
        sequence->kind != Sequence::Kind::generator && sequence->kind != Sequence::Kind::view;
    if (!has_places) return undefined(std::to_string(*index));
    const auto count = static_cast<std::int64_t>(sequence->items->size());
    const std::int64_t at = *index < 0 ? *index + count : *index;
    if (at < 0 || at >= count) return undefined(std::to_string(*index));
    return (*sequence->items)[static_cast<std::size_t>(at)];
  }
  if (const auto* mapping = of.as<Mapping>()) {
    if (auto ok = budget.spend(1 + mapping->entries->size() / 8); !ok) return propagate(ok);
    if (const Value* const found = find(*mapping, key)) return *found;
  }
  const std::string name(key.text() != nullptr ? key.text()->bytes() : kind_name(key));
  if (const auto* nothing = of.as<Undefined>()) {
    return fail(ErrorKind::usage,
                fmt::format("'{}' of '{}', which is undefined", name, nothing->name));
  }
  if (is_method(of, name)) {
    return fail(ErrorKind::usage, fmt::format("the method '{}' of {} as a value is not supported",
                                              name, kind_name(of)));
  }
  return undefined(name);
}

Result<Value> item_at(const Value& of, std::string_view path, Budget& budget) {
  Value current = of;
  while (true) {
    const std::string_view name = path.substr(0, path.find('.'));
    std::int64_t index = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool numeric =
        !name.empty() && read.ec == std::errc() && read.ptr == name.data() + name.size();
    auto next = item(current, numeric ? Value(index) : Value(Text(name)), budget);
    if (!next || name.size() == path.size()) return next;
    current = std::move(*next);
    path.remove_prefix(name.size() + 1);
  }
}

Result<bool> contains(const Value& whole, const Value& part, Budget& budget) {
  if (auto ok = budget.spend(extent_of(whole).weight); !ok) return propagate(ok);
  if (const Text* text = whole.text()) {
    if (part.text() == nullptr) {
      return fail(ErrorKind::usage, fmt::format("a text cannot hold {}", kind_name(part)));
    }
    return text->bytes().find(part.text()->bytes()) != std::string_view::npos;
  }
  if (const auto* mapping = whole.as<Mapping>()) {
    if (is_key(part) || part.undefined()) return find(*mapping, part) != nullptr;
    return refused(fmt::format("{} cannot be a key of a mapping", kind_name(part)));
  }
  auto items = iterate(whole, budget);
  if (!items) return propagate(items);
  return std::any_of(items->items->begin(), items->items->end(),
                     [&](const Value& one) { return equal(one, part); });
}

}  // namespace trainward::trainer::jinja
