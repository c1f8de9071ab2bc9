// A PJRT plugin: a shared library that drives devices.
//
// open() loads it, agrees on a version and lets it initialise itself. The library is never
// unloaded, since plugins leave threads behind. Open a plugin once a process, and let nothing of it
// outlive main(): when the last owner of a Plugin is gone, the plugin is told to stop what it left
// running (tt_pjrt_shutdown, where it has that), which must come after the last client and before
// exit.
//
// Errors of open() are for the user, and say what to do. Any thread may use a Plugin.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "trainer/pjrt/calls.hpp"

namespace trainward::pjrt {

class Plugin {
 public:
  static Result<std::shared_ptr<const Plugin>> open(const std::filesystem::path& file);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int major() const { return major_; }
  [[nodiscard]] int minor() const { return minor_; }

  // SHA-256 of the file that was opened, also when another has taken its place since. Read at the
  // first call, which takes a second or so for a large plugin.
  [[nodiscard]] Result<std::string> digest() const;

  // What the plugin says of itself, by name; empty where it says nothing.
  [[nodiscard]] const std::map<std::string, std::string>& attributes() const { return attributes_; }

  // Whether a program may take over the buffer of an argument (tf.aliasing_output). Tenstorrent's
  // plugin, known by its shutdown call, ignores the request.
  [[nodiscard]] bool honours_donation() const { return shutdown_ == nullptr; }

  // Tells the plugin to stop what it left running; does nothing the second time, or where the
  // plugin has no such call. No client may be left, and none can be made afterwards.
  void shutdown() const;
  [[nodiscard]] bool is_shut_down() const { return shut_down_.load(); }

  [[nodiscard]] const Calls& calls() const { return calls_; }

 private:
  Plugin(std::filesystem::path path, Fd file, const abi::Api& api);
  Status initialise();

  std::filesystem::path path_;
  Fd file_;
  Calls calls_;
  int major_ = 0;
  int minor_ = 0;
  std::map<std::string, std::string> attributes_;
  void (*shutdown_)() = nullptr;
  mutable std::atomic<bool> shut_down_ = false;
  mutable std::mutex digest_mutex_;
  mutable std::optional<std::string> digest_;
};

}  // namespace trainward::pjrt
