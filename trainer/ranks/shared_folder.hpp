// A folder in memory for what the ranks of one host share, gone with its owner.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::trainer {

class SharedFolder {
 public:
  // In /dev/shm, else where temporary files go, for this user alone. Removes what owners left
  // behind that died without a chance to: a folder is in use while its lock is held.
  static Result<SharedFolder> make();
  SharedFolder(SharedFolder&& other) noexcept;
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  SharedFolder& operator=(SharedFolder&&) = delete;
  ~SharedFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  SharedFolder(std::filesystem::path path, Fd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  Fd lock_;
};

}  // namespace trainward::trainer
