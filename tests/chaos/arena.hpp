// The folder of one attack: a small disk of its own where the machine allows one, the
// configuration, the control file of the preload library, and the programs that are started in it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "control.hpp"

namespace trainward::chaos {

// The programs of the configuration. The first two are never stopped by a command, so every
// second of theirs must be booked.
namespace programs {
inline constexpr const char* always[] = {"alpha", "beta"};
inline constexpr const char* at_times[] = {"mortal", "silent"};
inline constexpr const char* all[] = {"alpha", "beta", "mortal", "silent"};
}  // namespace programs

class Arena {
 public:
  // `seconds`: how long it will last, by which the disk is measured.
  static Result<Arena> make(std::int64_t seconds);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path state() const { return folder_ / "disk" / "state"; }
  [[nodiscard]] std::filesystem::path book() const { return folder_ / "book"; }
  [[nodiscard]] std::filesystem::path run(const std::string& program) const {
    return state() / "runs" / program;
  }
  [[nodiscard]] std::filesystem::path attempt(const std::string& program,
                                              std::int64_t number) const;
  // The highest number among the attempts' folders; 0: none.
  [[nodiscard]] std::int64_t newest_attempt(const std::string& program) const;
  // Where checkpoints of the programs that train for ever go to as well.
  [[nodiscard]] std::filesystem::path backup() const { return folder_ / "backup"; }
  // Somebody else's; nothing may change in it.
  [[nodiscard]] std::filesystem::path victim() const { return folder_ / "victim"; }
  static constexpr std::string_view victims_text = "of somebody else";
  [[nodiscard]] std::uint16_t port() const { return port_; }  // of the page
  [[nodiscard]] std::filesystem::path daemon_log() const { return folder_ / "daemon.log"; }

  // Null where nothing can be loaded before libc (a sanitizer is there already).
  [[nodiscard]] Control* control() const { return control_; }
  [[nodiscard]] bool has_disk() const { return has_disk_; }
  // No room for another byte, and room again.
  void fill_disk() const;
  void free_disk() const;

  [[nodiscard]] pid_t start_daemon() const;
  // Its output is not kept.
  [[nodiscard]] pid_t start_command(const std::vector<std::string>& arguments) const;

  // After a failure: what lies on the small disk would be gone with it.
  void keep() const;
  void remove() const;

 private:
  Status write_configuration() const;
  Status make_control();
  [[nodiscard]] pid_t spawn(const std::string& program, const std::vector<std::string>& arguments,
                            const std::filesystem::path& output) const;

  std::filesystem::path folder_;
  Control* control_ = nullptr;
  bool has_disk_ = false;
  std::int64_t disk_bytes_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace trainward::chaos
