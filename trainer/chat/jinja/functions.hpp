// The filters, tests and methods that templates may use, by name.
//
// Each is a plain function of values: it asks nothing of the rendering but its budget. What Jinja
// or Python have beyond these is refused: filters and tests when the template is read, methods when
// they are called. Errors: usage, without a place. Pure, no globals that change.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/chat/jinja/value.hpp"

namespace trainward::trainer::jinja {

inline tl::unexpected<Error> refused(std::string what) {
  return fail(ErrorKind::usage, std::move(what));
}

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// The arguments in the order of `names`, wherever each was given; nothing for those left out. An
// error for what has no place in it.
Result<std::vector<std::optional<Value>>> in_order(const Arguments& arguments,
                                                   std::span<const std::string_view> names);

inline constexpr std::array<std::string_view, 0> no_names{};

struct FilterEntry {
  std::string_view name;
  Result<Value> (*apply)(const Value& of, const Arguments& arguments, Budget& budget);
};
struct TestEntry {
  std::string_view name;
  Result<bool> (*holds)(const Value& of, const Arguments& arguments, Budget& budget);
};

// Null for an unknown name.
const FilterEntry* find_filter(std::string_view name);
const TestEntry* find_test(std::string_view name);

// What the two are made of, a file each.
std::span<const FilterEntry> text_filters();
std::span<const FilterEntry> list_filters();

// Whether `name` is a method of the value in Python: then it is not one of a mapping's own keys.
bool is_method(const Value& of, std::string_view name);
Result<Value> call_method(const Value& of, std::string_view name, const Arguments& arguments,
                          Budget& budget);
// Of texts alone.
Result<Value> call_text_method(const Text& of, std::string_view name, const Arguments& arguments,
                               Budget& budget);

// of[key], and of.name unless it is a method; undefined if missing. Namespaces and loops belong to
// the rendering.
Result<Value> item(const Value& of, const Value& key, Budget& budget);
// "a.b.0", as the attribute of a filter is written.
Result<Value> item_at(const Value& of, std::string_view path, Budget& budget);

// `part in whole`
Result<bool> contains(const Value& whole, const Value& part, Budget& budget);

// Pieces of texts, which several of these share.
Text stripped(const Text& text, const std::optional<std::string>& characters, bool left,
              bool right);
Result<Text> replaced(const Text& text, const Text& from, const Text& to, std::int64_t most,
                      Budget& budget);

}  // namespace trainward::trainer::jinja
