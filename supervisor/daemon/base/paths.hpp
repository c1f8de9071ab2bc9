// Where things lie: the state folder's layout, and the other programs of this package.
//
//   STATE_DIR/
//     trainward.db  trainward.sock  trainwardd.lock
//     leases/       one lock file a board and a program
//     watch/        of each watched board the helper that hangs, if one does
//     cache/        programs compiled, vendor kernel caches per board
//     runs/NAME/checkpoints/step-00000010/
//     runs/NAME/cache/  the same for a program with a user of its own
//     runs/NAME/attempts/0001/{launch.json,worker.json,journal.ndjson,stdout.log,stderr.log}
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace trainward::daemon {

struct Paths {
  std::filesystem::path state;     // absolute
  std::filesystem::path programs;  // folder of trainward-shim, trainward-worker, trainward-probe

  [[nodiscard]] std::filesystem::path checkpoints(const std::string& name) const {
    return state / "runs" / name / "checkpoints";
  }
  [[nodiscard]] std::filesystem::path attempts(const std::string& name) const {
    return state / "runs" / name / "attempts";
  }
  // Of workers that are started before they are needed, by their nonces.
  [[nodiscard]] std::filesystem::path standbys(const std::string& name) const {
    return attempts(name).parent_path() / "standby";
  }
  [[nodiscard]] std::filesystem::path attempt(const std::string& name, std::int64_t number) const {
    return attempts(name) / fmt::format("{:04}", number);
  }
  // Of all programs together, or those of `own` alone (config::own_cache()).
  [[nodiscard]] std::filesystem::path cache(const std::string& own) const {
    return own.empty() ? state / "cache" : state / "runs" / own / "cache";
  }
  // Compiled programs, and the vendor's kernels for this board.
  [[nodiscard]] std::filesystem::path programs_cache(const std::string& own) const {
    return cache(own) / "programs";
  }
  [[nodiscard]] std::filesystem::path kernels_cache(const std::string& serial,
                                                    const std::string& own) const {
    return cache(own) / "tt-metal" / (serial.empty() ? "none" : serial);
  }
  [[nodiscard]] std::vector<std::filesystem::path> caches(const std::string& serial,
                                                          const std::string& own) const {
    return {programs_cache(own), kernels_cache(serial, own)};
  }
  [[nodiscard]] std::filesystem::path program_lease(const std::string& name) const {
    return state / "leases" / ("program-" + name);
  }
  [[nodiscard]] std::filesystem::path board_lease(const std::string& serial) const {
    return state / "leases" / ("board-" + serial);
  }
  [[nodiscard]] std::filesystem::path board_watch() const { return state / "watch"; }
  [[nodiscard]] std::filesystem::path program(const char* name) const { return programs / name; }
};

}  // namespace trainward::daemon
