// The attempt's folder, recreated when it is removed while the worker lives.
//
// What is written into a folder that is no more is seen by nobody: the worker would train on, and
// be called hung. So the folder that holds it is watched, and the attempt's is made there again, as
// it was: with its mode and owner and the worker's folder for temporary files. What lay in it is
// lost. Where no watch can be had, nothing is seen. Used by one thread.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/os/folder.hpp"

namespace trainward::shim {

class AttemptPlace {
 public:
  static Result<AttemptPlace> open(const std::filesystem::path& path);

  [[nodiscard]] const std::shared_ptr<const Folder>& folder() const { return folder_; }
  // Readable when it may have been removed; -1: that is not watched.
  [[nodiscard]] int fd() const { return watch_.get(); }
  // Another one, which was made in its place; null: it is where it was.
  Result<std::shared_ptr<const Folder>> look();

 private:
  AttemptPlace(std::shared_ptr<const Folder> folder, Folder parent, std::string name)
      : folder_(std::move(folder)), parent_(std::move(parent)), name_(std::move(name)) {}
  [[nodiscard]] Result<Folder> make_anew() const;

  std::shared_ptr<const Folder> folder_;
  Folder parent_;
  std::string name_;
  Fd watch_;
  struct stat was_ {};
  std::optional<struct stat> temporary_was_;
};

}  // namespace trainward::shim
