// The program that is to follow this one in place: where it lies, and whether it may.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/loop/child_process.hpp"
#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

// The path under which this program was started, symbolic links left as they are: after a package
// upgrade the new program lies there, while /proc/self/exe still means the old one. Call before any
// change of the working directory.
std::filesystem::path own_executable(const char* argv0);

// What `trainwardd --check` looks at beyond the configuration's own text: the crash rules load,
// the API's socket can be made where it is to lie, and this version understands the run database.
// Changes nothing.
Status check_files(const config::Config& config);

// Whether a daemon whose state folder that is can make its socket there. Changes nothing.
Status check_socket_place(const std::filesystem::path& socket,
                          const std::filesystem::path& state_dir);

// What to execute to go on with this very program: `executable`, or the image that runs when
// another lies there by now, which nobody has tried.
std::filesystem::path same_program(const std::filesystem::path& executable);

// Runs `executable --version`, `--check ARGUMENTS`, and `--rehearse NUMBER ARGUMENTS`, which must
// get as far as a daemon that supervises (rehearsed_start.hpp): after the exec there is no way
// back. `done` is called once, on the loop, with the version ("0.2.0"), or with what speaks against
// it. Keep the object until then.
class SuccessorCheck {
 public:
  using Done = std::function<void(Result<std::string>)>;
  SuccessorCheck(Loop& loop, std::filesystem::path executable, std::vector<std::string> arguments,
                 Done done);

 private:
  void on_version(Result<ChildResult> result);
  void on_check(Result<ChildResult> result);
  void on_rehearsal(Result<ChildResult> result);
  void ask(std::vector<std::string> words, void (SuccessorCheck::*next)(Result<ChildResult>));
  Loop& loop_;
  std::filesystem::path executable_;
  std::vector<std::string> arguments_;
  Done done_;
  std::string version_;
  std::string number_;
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace trainward::daemon
