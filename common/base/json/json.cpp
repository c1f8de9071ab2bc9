#include "common/base/json/json.hpp"

namespace trainward {
namespace {

tl::unexpected<Error> wrong(std::string_view key, std::string_view expected,
                            const json::value* found) {
  return fail(ErrorKind::corrupt,
              found == nullptr
                  ? fmt::format("key '{}' is missing, expected {}", key, expected)
                  : fmt::format("key '{}' is {}, expected {}", key,
                                std::string_view(json::to_string(found->kind())), expected),
              std::string(key));
}

const json::value* find(const json::object& object, std::string_view key) {
  return object.if_contains(json::string_view(key.data(), key.size()));
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::string_view where) {
  json::parse_options options;
  options.max_depth = 32;
  boost::system::error_code error;
  json::stream_parser parser({}, options);
  std::size_t used = 0;
  try {
    used = parser.write_some(text.data(), text.size(), error);
    if (!error && used < text.size() &&
        text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
      return fail(ErrorKind::corrupt, fmt::format("has extra characters at byte {}", used),
                  std::string(where));
    }
    if (!error) parser.finish(error);
    if (error) {
      return fail(ErrorKind::corrupt,
                  fmt::format("is not valid JSON at byte {}: {}", used, error.message()),
                  std::string(where));
    }
    return parser.release();
  } catch (const std::exception& exception) {
    return fail(ErrorKind::corrupt, fmt::format("is not readable as JSON: {}", exception.what()),
                std::string(where));
  }
}

Result<std::string> get_string(const json::object& object, std::string_view key) {
  const json::value* found = find(object, key);
  if (found == nullptr || !found->is_string()) return wrong(key, "text", found);
  return std::string(view(found->get_string()));
}

Result<std::int64_t> get_int(const json::object& object, std::string_view key) {
  const json::value* found = find(object, key);
  boost::system::error_code error;
  if (found == nullptr || !(found->is_int64() || found->is_uint64())) {
    return wrong(key, "a whole number", found);
  }
  const auto number = found->to_number<std::int64_t>(error);
  if (error) return wrong(key, "a number below 2^63", found);
  return number;
}

Result<double> get_number(const json::object& object, std::string_view key) {
  const json::value* found = find(object, key);
  if (found == nullptr || !found->is_number()) return wrong(key, "a number", found);
  return found->to_number<double>();
}

Result<bool> get_bool(const json::object& object, std::string_view key) {
  const json::value* found = find(object, key);
  if (found == nullptr || !found->is_bool()) return wrong(key, "true or false", found);
  return found->get_bool();
}

Result<const json::object*> get_object(const json::object& object, std::string_view key) {
  const json::value* found = find(object, key);
  if (found == nullptr || !found->is_object()) return wrong(key, "an object", found);
  return &found->get_object();
}

Result<const json::array*> get_array(const json::object& object, std::string_view key) {
  const json::value* found = find(object, key);
  if (found == nullptr || !found->is_array()) return wrong(key, "a list", found);
  return &found->get_array();
}

std::string string_or(const json::object& object, std::string_view key, std::string fallback) {
  return get_string(object, key).value_or(std::move(fallback));
}
std::int64_t int_or(const json::object& object, std::string_view key, std::int64_t fallback) {
  return get_int(object, key).value_or(fallback);
}
double number_or(const json::object& object, std::string_view key, double fallback) {
  return get_number(object, key).value_or(fallback);
}
bool bool_or(const json::object& object, std::string_view key, bool fallback) {
  return get_bool(object, key).value_or(fallback);
}

}  // namespace trainward
