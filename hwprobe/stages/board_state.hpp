// One file a board, in a folder of the caller's: locked (flock) by the probe that looks at the
// board, and naming the child that was last started there, until that has ended.
//
// A process that takes the lock and finds a child named knows that a probe died, or had to leave a
// child behind in the kernel. The file stays; an empty one says that nothing is left. Not synced:
// it only matters for this boot.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/os/processes/process_id.hpp"

namespace trainward::hwprobe {

struct LeftChild {
  ProcessId process;
  std::string stage;
  std::int64_t since_ms = 0;  // wall time of its start
  bool killed = false;        // it has outlived a SIGKILL

  friend bool operator==(const LeftChild&, const LeftChild&) = default;
};

class BoardState {
 public:
  // Empty: another probe holds it.
  static Result<std::optional<BoardState>> take(const std::filesystem::path& folder,
                                                const std::string& board);

  // Nothing if no child is named, or the file is damaged.
  [[nodiscard]] std::optional<LeftChild> left() const;
  Status remember(const LeftChild& child);
  Status forget();

 private:
  BoardState(Fd file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Fd file_;
  std::filesystem::path path_;
};

}  // namespace trainward::hwprobe
