// A file that is whole under its name or not there: written beside it, fsynced, renamed, and the
// folder fsynced.
//
// In: bytes in order, in portions of any size; nothing is kept in memory. Out: the file after
// commit(); without it the temporary file is removed. An existing file of the name is replaced.
// After a failed fsync nothing of it is trusted: the file is removed and the error returned. Errors
// name the file; a full disk is of kind permanent. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::checkpoint::pytorch {

class OutputFile {
 public:
  static Result<OutputFile> create(const std::filesystem::path& path);
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  Status write(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t at() const { return at_; }  // bytes written
  Status commit();

 private:
  OutputFile(Fd fd, std::filesystem::path path, std::filesystem::path temporary)
      : fd_(std::move(fd)), path_(std::move(path)), temporary_(std::move(temporary)) {}

  Fd fd_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::uint64_t at_ = 0;
  std::uint64_t pushed_ = 0;  // up to here write-back has been started
};

}  // namespace trainward::checkpoint::pytorch
