// Real samples that may lie beside the checkout. Tests have samples of their own and only add
// these.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace trainward::hwprobe {

inline std::optional<std::string> fixture(const std::string& name) {
  std::ifstream in(std::filesystem::path(SOURCE_FOLDER) / "../shared/fixtures" / name,
                   std::ios::binary);
  if (!in) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

}  // namespace trainward::hwprobe
