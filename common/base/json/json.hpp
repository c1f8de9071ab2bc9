// JSON from strangers, read with limits; and typed access that names the key when it is wrong.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward {

namespace json = boost::json;

inline std::string_view view(json::string_view text) { return {text.data(), text.size()}; }

// `where` names the source in errors. Depth is limited to 32; duplicate keys keep the last.
Result<json::value> parse_json(std::string_view text, std::string_view where);

// Required members of an object: an error of kind corrupt names the missing or mistyped key.
Result<std::string> get_string(const json::object& object, std::string_view key);
Result<std::int64_t> get_int(const json::object& object, std::string_view key);
Result<double> get_number(const json::object& object, std::string_view key);
Result<bool> get_bool(const json::object& object, std::string_view key);
Result<const json::object*> get_object(const json::object& object, std::string_view key);
Result<const json::array*> get_array(const json::object& object, std::string_view key);

// Optional members: the fallback when the key is absent, null or of another type.
std::string string_or(const json::object& object, std::string_view key, std::string fallback);
std::int64_t int_or(const json::object& object, std::string_view key, std::int64_t fallback);
double number_or(const json::object& object, std::string_view key, double fallback);
bool bool_or(const json::object& object, std::string_view key, bool fallback);

}  // namespace trainward
