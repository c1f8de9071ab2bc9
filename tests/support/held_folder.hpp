// A folder as the programs hold it, of a path as tests have it.
#pragma once

#include <filesystem>
#include <memory>

#include "common/os/folder.hpp"

namespace trainward {

inline std::shared_ptr<const Folder> held(const std::filesystem::path& path) {
  return std::make_shared<const Folder>(Folder::open(path).value());
}

}  // namespace trainward
