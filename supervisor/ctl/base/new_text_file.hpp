// A file that a command writes piece by piece, or stdout: until the end it has another name, so
// that there is never half of it.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::ctl {

class NewTextFile {
 public:
  // "-" is `out`, which is borrowed. Kind usage for a folder.
  static Result<NewTextFile> open(const std::filesystem::path& file, std::ostream& out);
  NewTextFile(NewTextFile&& other) noexcept;
  NewTextFile& operator=(NewTextFile&&) = delete;
  NewTextFile(const NewTextFile&) = delete;
  NewTextFile& operator=(const NewTextFile&) = delete;
  // What was not finished is gone.
  ~NewTextFile();

  Status write(std::string_view text);
  // It is on the disk and has its name; what had it before is replaced, a link itself and not what
  // it leads to.
  Status finish();

 private:
  NewTextFile(std::ostream* out, std::filesystem::path file, std::filesystem::path temporary,
              Fd fd);
  Status flush();

  std::ostream* out_ = nullptr;  // null: a file
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  Fd fd_;
  std::string pending_;
};

}  // namespace trainward::ctl
