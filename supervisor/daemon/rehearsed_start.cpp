#include "supervisor/daemon/rehearsed_start.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "supervisor/record/store/store.hpp"
#include "supervisor/window/api/access/secret.hpp"

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;

// For its owner alone; goes with this object.
class Scratch {
 public:
  static Result<Scratch> make() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "trainward-start-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      return fail_errno(errno, "make a folder to try the start in", pattern,
                        "make room there, or name another place with TMPDIR");
    }
    return Scratch(pattern);
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit Scratch(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// That every program's newest attempt can be read as it stands.
Status read_state(const config::Config& config) {
  std::error_code error;
  if (!fs::exists(config.database, error)) return {};
  auto store = store::Store::open_read_only(config.database);
  if (!store) return propagate(store);
  auto programs = store->programs();
  if (!programs) return propagate(programs);
  for (const store::ProgramRow& program : *programs) {
    if (auto attempts = store->attempts(program.name); !attempts) return propagate(attempts);
  }
  return {};
}

Status find_shim() {
  const fs::path shim = program_folder() / "trainward-shim";
  if (::access(shim.c_str(), X_OK) == 0) return {};
  return fail_errno(errno, "execute the program that starts the workers", shim.string(),
                    "install trainwardd and trainward-shim together");
}

config::Config without_programs(const config::Config& config, const fs::path& folder) {
  config::Config own;
  own.file = config.file;
  own.state_dir = folder;
  own.socket = folder / "trainward.sock";
  own.database = folder / "trainward.db";
  own.log_level = config.log_level;
  own.rules = config.rules;
  own.notify = config.notify;
  return own;
}

}  // namespace

Status rehearse_start(const Options& options, const config::Config& config) {
  if (auto state = read_state(config); !state) return state;
  if (auto shim = find_shim(); !shim) return shim;
  auto scratch = Scratch::make();
  if (!scratch) return propagate(scratch);
  Options own;
  own.config_file = options.config_file;
  own.working_directory = options.working_directory;
  own.web_root = options.web_root;
  Loop loop;
  auto daemon = Daemon::make(loop, std::move(own), without_programs(config, scratch->path()));
  if (!daemon) return propagate(daemon);
  if (auto started = (*daemon)->start(); !started) return started;
  loop.post([&loop] { loop.stop(); });
  loop.run();
  return {};
}

std::string ready_word(std::string_view number) {
  return "ready " + api::digest_of("trainwardd starts: " + std::string(number));
}

}  // namespace trainward::daemon
