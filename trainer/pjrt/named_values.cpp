#include "trainer/pjrt/named_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainward::pjrt {
namespace {

void set(abi::NamedValue& to, const std::string& value) {
  to.type = abi::NamedValue_String;
  to.string_value = value.c_str();
  to.value_size = value.size();
}

void set(abi::NamedValue& to, std::int64_t value) {
  to.type = abi::NamedValue_Int64;
  to.int64_value = value;
  to.value_size = 1;
}

void set(abi::NamedValue& to, const std::vector<std::int64_t>& value) {
  to.type = abi::NamedValue_Int64List;
  to.int64_array_value = value.data();
  to.value_size = value.size();
}

void set(abi::NamedValue& to, float value) {
  to.type = abi::NamedValue_Float;
  to.float_value = value;
  to.value_size = 1;
}

void set(abi::NamedValue& to, bool value) {
  to.type = abi::NamedValue_Bool;
  to.bool_value = value;
  to.value_size = 1;
}

std::string text_of(const abi::NamedValue& value) {
  switch (value.type) {
    case abi::NamedValue_String:
      return value.string_value == nullptr ? std::string()
                                           : std::string(value.string_value, value.value_size);
    case abi::NamedValue_Int64:
      return std::to_string(value.int64_value);
    case abi::NamedValue_Int64List:
      return fmt::format("{}", fmt::join(value.int64_array_value,
                                         value.int64_array_value + value.value_size, ","));
    case abi::NamedValue_Float:
      return fmt::format("{}", value.float_value);
    case abi::NamedValue_Bool:
      return value.bool_value ? "true" : "false";
  }
  return "?";  // a type of a newer plugin
}

}  // namespace

std::vector<abi::NamedValue> named_values(std::span<const ClientOption> options) {
  std::vector<abi::NamedValue> values;
  values.reserve(options.size());
  for (const ClientOption& option : options) {
    abi::NamedValue value{};
    value.struct_size = sizeof(value);
    value.name = option.name.c_str();
    value.name_size = option.name.size();
    std::visit([&](const auto& is) { set(value, is); }, option.value);
    values.push_back(value);
  }
  return values;
}

std::map<std::string, std::string> read_named_values(const abi::NamedValue* values,
                                                     std::size_t count) {
  std::map<std::string, std::string> read;
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i].name == nullptr) continue;
    read.emplace(std::string(values[i].name, values[i].name_size), text_of(values[i]));
  }
  return read;
}

}  // namespace trainward::pjrt
