// trainward-unit: what trainwardd needs of systemd, in a process that may wait for it.
//
//   trainward-unit [--user] scope --unit NAME --description TEXT --stop-ms N [--before UNIT]
//                  -- COMMAND ...   moves itself into a transient scope, then becomes COMMAND
//   trainward-unit [--user] job UNIT    prints the type of the unit's job, or none
//   trainward-unit [--user] stop UNIT   queues a stop of the unit
//
// `scope` always becomes COMMAND: where systemd makes no scope (no bus, refused, too slow) it takes
// a control group of its own inside the service's, or stays where it is, and says so on stderr.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/os/processes/cgroup.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/process/unit/manager.hpp"

namespace {

using namespace trainward;
using namespace std::chrono_literals;

// An attempt that waits this long for systemd does not lose much; one that hangs does.
constexpr auto deadline = 3s;
constexpr const char* slice = "trainward.slice";
constexpr std::string_view prefix = "attempt-";

struct Arguments {
  bool user = false;
  std::string verb;
  std::string unit;
  unit::Scope scope;
  char** command = nullptr;  // of `scope`
};

std::optional<Arguments> parse(char** argv) {
  Arguments arguments;
  arguments.scope.slice = slice;
  for (char** at = argv + 1; *at != nullptr; ++at) {
    const std::string_view word = *at;
    if (word == "--") {
      arguments.command = at + 1;
      break;
    }
    if (word == "--user") {
      arguments.user = true;
    } else if (!word.starts_with("--")) {
      (arguments.verb.empty() ? arguments.verb : arguments.unit) = word;
    } else if (*(at + 1) == nullptr) {
      return std::nullopt;
    } else {
      const std::string value = *++at;
      std::int64_t stop_ms = 0;
      if (word == "--unit") {
        arguments.scope.name = value;
      } else if (word == "--description") {
        arguments.scope.description = value;
      } else if (word == "--before") {
        arguments.scope.stops_after = value;
      } else if (word == "--stop-ms" &&
                 std::from_chars(value.data(), value.data() + value.size(), stop_ms).ec ==
                     std::errc()) {
        arguments.scope.stop_timeout = std::chrono::milliseconds(stop_ms);
      } else {
        return std::nullopt;
      }
    }
  }
  const bool scope = arguments.verb == "scope";
  if (scope && (arguments.scope.name.empty() || arguments.command == nullptr ||
                *arguments.command == nullptr)) {
    return std::nullopt;
  }
  if (!scope && (arguments.unit.empty() || (arguments.verb != "job" && arguments.verb != "stop"))) {
    return std::nullopt;
  }
  return arguments;
}

Status enter_scope(const Arguments& arguments) {
  auto manager = unit::Manager::connect(arguments.user, deadline);
  if (!manager) return propagate(manager);
  auto entered = manager->start_scope(arguments.scope, ::getpid());
  if (entered || entered.error().kind != ErrorKind::usage) return entered;
  // The name may be taken by another daemon's run of the same name; a process id is not.
  unit::Scope other = arguments.scope;
  other.name.insert(other.name.rfind('.'), "-" + std::to_string(::getpid()));
  if (manager->start_scope(other, ::getpid())) return {};
  return entered;
}

// Moves this process into the group `name` below its own (of cgroup v2), and removes such groups of
// earlier attempts that are empty: the stand-in for a scope where systemd makes none. It works in a
// service with `Delegate=yes`, also without root. No controller is switched on below, so the parent
// may hold processes too. Kind permanent: no cgroup v2, or not ours to divide.
//
// Why not stay in the service's own group: what divides that one to limit memory must switch
// controllers on there, and then systemd can start no new daemon in it while workers live.
Status enter_own_group(const std::string& name) {
  const auto folder = host::cgroups_of("/", ::getpid()).unified.folder;
  if (folder.empty()) {
    return fail(ErrorKind::permanent, "there is no cgroup v2 here", "/proc/self/cgroup");
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    std::error_code in_use;
    std::filesystem::remove(entry.path(), in_use);
  }
  const auto group = folder / (std::string(prefix) + name);
  if (auto made = make_folders(group); !made) return made;
  auto processes = open_regular(group / "cgroup.procs", O_WRONLY);
  if (!processes) return propagate(processes);
  return write_all(processes->get(), "0", group);
}

int become(const Arguments& arguments) {
  if (auto entered = enter_scope(arguments); !entered) {
    const std::string name = arguments.scope.name.substr(0, arguments.scope.name.rfind('.'));
    auto grouped = enter_own_group(name);
    std::fprintf(stderr, "trainward-unit: no scope: %s; %s\n",
                 clean(entered.error().message()).c_str(),
                 grouped ? "a control group inside the service's takes its place"
                         : ("nor a control group: " + grouped.error().message()).c_str());
  }
  ::execvp(arguments.command[0], arguments.command);
  std::fprintf(stderr, "trainward-unit: %s: %s\n", arguments.command[0], std::strerror(errno));
  return 127;
}

int ask(const Arguments& arguments) {
  auto manager = unit::Manager::connect(arguments.user, deadline);
  Status done;
  if (!manager) {
    done = propagate(manager);
  } else if (arguments.verb == "stop") {
    done = manager->stop(arguments.unit);
  } else if (auto job = manager->job(arguments.unit); job) {
    std::puts(job->c_str());
  } else {
    done = propagate(job);
  }
  if (done) return exit_code::done;
  std::fprintf(stderr, "trainward-unit: %s\n", clean(done.error().message()).c_str());
  return exit_code::failed;
}

}  // namespace

int main(int, char** argv) {
  const auto arguments = parse(argv);
  if (!arguments) {
    std::fputs("trainward-unit: wrong use (trainwardd starts it)\n", stderr);
    return exit_code::usage;
  }
  return arguments->verb == "scope" ? become(*arguments) : ask(*arguments);
}
