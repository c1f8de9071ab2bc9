#include "trainer/stablehlo/module.hpp"

#include <algorithm>

namespace trainward::stablehlo {

bool is_module_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace trainward::stablehlo
