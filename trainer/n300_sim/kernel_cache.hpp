// The vendor's cache of compiled kernels, on disk as tt-metal lays it out:
// FOLDER/tt-metal-cache/<build key>/kernels/<program>/<hash>/trisc2/trisc2.elf
//
// A program's kernel holds the digest of its text and one line per operation, so that a torn or
// changed file shows. It grows while the program is compiled and gets its name when it is whole.
// Not durable, not locked: neither is the real one. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::n300 {

class KernelCache {
 public:
  // `folder` as in TT_METAL_CACHE.
  explicit KernelCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Kernel {
    std::string_view program;                  // the program's name
    std::string_view text;                     // what is compiled
    std::vector<std::string_view> operations;  // by name
  };

  [[nodiscard]] std::filesystem::path file_of(const Kernel& kernel) const;

  // Whether a whole kernel is there. Error corrupt when there is something else in its place:
  // `where` is the file, `what` why it cannot be read.
  [[nodiscard]] Result<bool> has(const Kernel& kernel) const;

  // Writes the kernel; calls `compiled` after each operation. Errors as of the file system.
  Status compile(const Kernel& kernel, const std::function<void()>& compiled) const;

  // Leaves an empty file in the kernel's place, as a crash of the machine does.
  Status damage(const Kernel& kernel) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace trainward::n300
