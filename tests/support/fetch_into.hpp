// Where the files of a checkpoint that is fetched go in a test: below a folder.
#pragma once

#include <fcntl.h>

#include <filesystem>

#include "common/os/folder.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::test {

inline upload::Into fetch_into(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  return [folder](const upload::Remote::File& file) -> Result<Fd> {
    auto at = Folder::open(folder);
    if (!at) return propagate(at);
    if (auto inner = at->make_for(file.name); !inner) return propagate(inner);
    return at->open_file(file.name, O_RDWR | O_CREAT | O_EXCL);
  };
}

}  // namespace trainward::test
