// Options given to a plugin by name, and what a plugin says of itself by name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trainer/pjrt/abi.hpp"

namespace trainward::pjrt {

using OptionValue = std::variant<std::string, std::int64_t, std::vector<std::int64_t>, float, bool>;

// XLA's plugins refuse names they do not know; Tenstorrent's looks at none.
struct ClientOption {
  std::string name;
  OptionValue value;
};

// The options as a plugin reads them. They point into `options`, which must outlive them.
std::vector<abi::NamedValue> named_values(std::span<const ClientOption> options);

// Name to text: "1,2,3" for a list, "true" or "false".
std::map<std::string, std::string> read_named_values(const abi::NamedValue* values,
                                                     std::size_t count);

}  // namespace trainward::pjrt
