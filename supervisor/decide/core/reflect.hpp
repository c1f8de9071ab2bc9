// Structs to JSON and back by what they say of themselves (BOOST_DESCRIBE_STRUCT): a member is a
// field of its name. Reading is forgiving: a field that is absent or of another type keeps its
// default, so that states survive an upgrade of the daemon in both directions. An enum with
// to_string() and from_string() is its name; an item of a list or a map whose name is not known is
// left out.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/base/step.hpp"
#include "common/base/time.hpp"

namespace trainward::core::reflect {

template <typename T>
concept Described = boost::describe::has_describe_members<T>::value;

// A struct whose fields stand beside those of the struct that it is a member of.
template <typename T>
inline constexpr bool flat = false;

// visit(name, member), in the order of the description.
template <typename S, typename F>
void each_member(S& s, F&& visit) {
  using Members =
      boost::describe::describe_members<std::remove_const_t<S>, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto member) { visit(member.name, s.*member.pointer); });
}

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
inline json::value write(Step step) { return step.number; }
// An instant is its milliseconds; 0 stands for a missing one.
template <typename Clock>
json::value write(const Instant<Clock>& at) {
  return at.ms;
}
template <typename Clock>
json::value write(const std::optional<Instant<Clock>>& at) {
  return at ? at->ms : 0;
}
inline json::value write(const Time& at) {
  return json::object{{"wall_ms", at.wall.ms}, {"mono_ms", at.mono.ms}};
}
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
template <Described T>
void write_members(const T& value, json::object& to) {
  each_member(value, [&]<typename M>(const char* name, const M& member) {
    if constexpr (flat<M>) {
      write_members(member, to);
    } else {
      to.emplace(name, write(member));
    }
  });
}
template <typename T>
json::value write(const T& value) {
  if constexpr (Described<T>) {
    json::object object;
    write_members(value, object);
    return object;
  } else if constexpr (Named<T>) {
    return json::string(to_string(value));
  } else {
    return json::value_from(value);
  }
}

// ---- reading ----
inline void read(const json::value& from, Step& to) { read(from, to.number); }
template <typename Clock>
void read(const json::value& from, Instant<Clock>& to) {
  read(from, to.ms);
}
template <typename Clock>
void read(const json::value& from, std::optional<Instant<Clock>>& to) {
  Instant<Clock> at;
  read(from, at);
  to = at == Instant<Clock>{} ? std::nullopt : std::optional(at);
}
inline void read(const json::value& from, Time& to) {
  if (!from.is_object()) return;
  const json::object& object = from.get_object();
  if (const json::value* wall = object.if_contains("wall_ms")) read(*wall, to.wall);
  if (const json::value* mono = object.if_contains("mono_ms")) read(*mono, to.mono);
}
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
  T made{};
  read(from, made);
  to = std::move(made);
}
template <typename T>
void read(const json::value& from, T& to) {
  if constexpr (Described<T>) {
    if (!from.is_object()) return;
    each_member(to, [&]<typename M>(const char* name, M& member) {
      if constexpr (flat<M>) {
        read(from, member);
      } else if (const json::value* found = from.get_object().if_contains(name)) {
        read(*found, member);
      }
    });
  } else if constexpr (Named<T>) {
    if (from.is_string()) from_string(std::string_view(from.get_string()), to);
  } else {
    if (auto got = json::try_value_to<T>(from)) to = std::move(*got);
  }
}

}  // namespace trainward::core::reflect
