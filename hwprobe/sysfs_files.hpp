// Reading the kernel's attribute files below a root folder: "/" on a host, a fake tree in tests.
// Every read may fail for harmless reasons (old driver, attribute not published yet), so absence is
// an empty optional and never an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainward::hwprobe {

class FsRoot {
 public:
  explicit FsRoot(std::filesystem::path root) : root_(std::move(root)) {}

  // `path` is absolute on the host: "/sys/bus/pci/devices".
  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& path) const {
    return root_ / path.relative_path();
  }

 private:
  std::filesystem::path root_;
};

// First 4 KiB at most, without the line end; nothing when unreadable or empty.
std::optional<std::string> read_attribute(const std::filesystem::path& file);
std::optional<std::int64_t> read_number(const std::filesystem::path& file);

// Names in a folder, sorted; empty when it cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace trainward::hwprobe
