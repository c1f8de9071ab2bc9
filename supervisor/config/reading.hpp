// What the readers of the sections share: how a path in the file becomes an absolute one.
#pragma once

#include <filesystem>
#include <string>

#include "common/yaml/document.hpp"

namespace trainward::config {

struct Folders {
  std::filesystem::path file;     // the configuration file's folder
  std::filesystem::path working;  // where the command was typed

  // A relative path means the file's folder when the file says it, and the working directory when
  // the command line does.
  [[nodiscard]] std::filesystem::path resolve(const yaml::Node& node) const {
    const auto& base = node.mark.source == 0 ? file : working;
    return (base / node.text).lexically_normal();
  }
};

}  // namespace trainward::config
