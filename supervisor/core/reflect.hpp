// Structs to JSON and back by one list of their fields each: a `fields(struct, visitor)` that names
// them. Reading is forgiving: a field that is absent or of another type keeps its default, so that
// states survive an upgrade of the daemon in both directions. An enum with to_string() and
// from_string() is its name; an item of a list or a map whose name is not known is left out.
#pragma once

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/json.hpp"

namespace trainward::core::reflect {

struct NoVisit {
  template <typename T>
  void operator()(const char* /*name*/, T& /*member*/) const {}
};
template <typename T>
concept Listed = requires(T& value) {
  fields(value, NoVisit{});
};

template <typename T>
concept Named = std::is_enum_v<T> && requires(T& value) {
  from_string(std::string_view(), value);
  to_string(value);
};

template <typename T>
json::value write(const T& value);
template <typename T>
void read(const json::value& from, T& to);

// ---- writing ----
template <typename T>
json::value write(const std::vector<T>& list) {
  json::array array;
  array.reserve(list.size());
  for (const T& item : list) array.push_back(write(item));
  return array;
}
template <typename K, typename T>
json::value write(const std::map<K, T>& map) {
  json::object object;
  for (const auto& [key, item] : map) {
    if constexpr (std::is_integral_v<K>) {
      object[std::to_string(key)] = write(item);
    } else if constexpr (Named<K>) {
      object[to_string(key)] = write(item);
    } else {
      object[key] = write(item);
    }
  }
  return object;
}
template <typename T>
json::value write(const std::optional<T>& value) {
  return value ? write(*value) : json::value(nullptr);
}
template <typename T>
json::value write(const T& value) {
  if constexpr (Listed<const T>) {
    json::object object;
    fields(value,
           [&](const char* name, const auto& member) { object.emplace(name, write(member)); });
    return object;
  } else if constexpr (Named<T>) {
    return json::string(to_string(value));
  } else {
    return json::value_from(value);
  }
}

// ---- reading ----
template <typename T>
void read(const json::value& from, std::vector<T>& to) {
  if (!from.is_array()) return;
  to.clear();
  for (const json::value& item : from.get_array()) {
    T made{};
    if constexpr (Named<T>) {
      if (!item.is_string() || !from_string(std::string_view(item.get_string()), made)) continue;
    } else {
      read(item, made);
    }
    to.push_back(std::move(made));
  }
}
template <typename K, typename T>
void read(const json::value& from, std::map<K, T>& to) {
  if (!from.is_object()) return;
  to.clear();
  for (const auto& [name, item] : from.get_object()) {
    K key{};
    if constexpr (std::is_integral_v<K>) {
      if (std::from_chars(name.data(), name.data() + name.size(), key).ec != std::errc()) continue;
    } else if constexpr (Named<K>) {
      if (!from_string(std::string_view(name), key)) continue;
    } else {
      key = K(name);
    }
    read(item, to[key]);
  }
}
template <typename T>
void read(const json::value& from, std::optional<T>& to) {
  to.reset();
  if (from.is_null()) return;
  read(from, to.emplace());
}
template <typename T>
void read(const json::value& from, T& to) {
  if constexpr (Listed<T>) {
    if (!from.is_object()) return;
    fields(to, [&](const char* name, auto& member) {
      if (const json::value* found = from.get_object().if_contains(name)) read(*found, member);
    });
  } else if constexpr (Named<T>) {
    if (from.is_string()) from_string(std::string_view(from.get_string()), to);
  } else {
    if (auto got = json::try_value_to<T>(from)) to = std::move(*got);
  }
}

}  // namespace trainward::core::reflect
