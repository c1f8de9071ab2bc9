// A temporary folder of files, by names as text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "temporary_folder.hpp"

namespace trainward::trainer {

class ScratchFolder {
 public:
  [[nodiscard]] std::string path() const { return folder_.path().string(); }
  [[nodiscard]] std::string path(std::string_view name) const {
    return (folder_.path() / name).string();
  }
  void write(std::string_view name, std::string_view text) const { folder_.write(name, text); }
  void link(std::string_view name, const std::filesystem::path& target) const {
    std::filesystem::create_symlink(target, folder_.path() / name);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace trainward::trainer
