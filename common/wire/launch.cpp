#include "common/wire/launch.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/number_in.hpp"
#include "common/os/file.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward {
namespace {

constexpr std::size_t max_spec_bytes = 4 * 1024 * 1024;
constexpr std::int64_t usual_version = 2;
constexpr std::int64_t newest_version = 4;
// What a new run database is filled from (supervisor/daemon/rebuild), and holds no secret.
constexpr std::array kept_values{env::run,         env::attempt,        env::nonce,
                                 env::resume_from, env::checkpoint_dir, env::plan,
                                 env::simulate,    env::program_cache};

std::optional<std::int64_t> optional_int(const json::object& object, std::string_view key) {
  auto number = get_int(object, key);
  return number ? std::optional(*number) : std::nullopt;
}

Status read_command(const json::object& object, const std::string& where, LaunchSpec& spec) {
  auto argv = get_array(object, "argv");
  auto environment = get_object(object, "environment");
  if (!argv) return propagate(argv);
  if (!environment) return propagate(environment);
  for (const json::value& word : **argv) {
    if (!word.is_string()) return fail(ErrorKind::corrupt, "argv holds no text", where);
    spec.argv.emplace_back(word.get_string());
  }
  for (const auto& [key, text] : **environment) {
    if (!text.is_string()) return fail(ErrorKind::corrupt, "environment holds no text", where);
    spec.environment.emplace(key, text.get_string());
  }
  if (spec.argv.empty()) return fail(ErrorKind::corrupt, "argv is empty", where);
  return {};
}

void read_version_2(const json::object& object, LaunchSpec& spec) {
  spec.log_max_bytes =
      std::max<std::int64_t>(int_or(object, "log_max_bytes", spec.log_max_bytes), 1);
  spec.log_keep = static_cast<int>(
      std::clamp<std::int64_t>(int_or(object, "log_keep", spec.log_keep), 1, 1000));
  spec.cgroup = string_or(object, "cgroup", "");
  spec.containment = string_or(object, "containment", spec.containment);
  spec.memory_limit_bytes = optional_int(object, "memory_limit_bytes");
  const auto adjustment = optional_int(object, "oom_score_adj");
  spec.oom_score_adj.reset();
  if (adjustment) spec.oom_score_adj = static_cast<int>(*adjustment);
  spec.kill_wait_ms = int_or(object, "kill_wait_ms", spec.kill_wait_ms);
  const std::string memory = string_or(object, "memory", "");
  if (memory == "take") spec.memory = LaunchSpec::Memory::take;
  if (memory == "fresh") spec.memory = LaunchSpec::Memory::fresh;
}

Result<Credentials> read_user(const json::object& object, const std::string& where) {
  const auto number = [&](const json::value& value) -> std::optional<std::uint32_t> {
    if (!value.is_int64() || value.get_int64() < 0 || value.get_int64() >= UINT32_MAX) {
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(value.get_int64());
  };
  const auto member = [&](const char* key) -> std::optional<std::uint32_t> {
    const json::value* value = object.if_contains(key);
    return value == nullptr ? std::nullopt : number(*value);
  };
  const auto user = member("uid");
  const auto group = member("gid");
  auto list = get_array(object, "groups");
  if (!user || !group || !list) return fail(ErrorKind::corrupt, "names no user", where);
  Credentials out{*user, *group, {}};
  for (const json::value& one : **list) {
    const auto each = number(one);
    if (!each) return fail(ErrorKind::corrupt, "names no group", where);
    out.groups.push_back(*each);
  }
  return out;
}

// Text, because a number of JSON is not as long as a limit may be.
std::string limit_text(std::uint64_t limit) {
  return limit == unlimited ? "unlimited" : std::to_string(limit);
}

std::optional<std::uint64_t> limit_of(const json::value& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.get_string();
  if (text == "unlimited") return unlimited;
  return number_in<std::uint64_t>(text);
}

// Whom to run as is never guessed: what cannot be read is an error, and nothing starts.
Status read_version_3(const json::object& object, const std::string& where, LaunchSpec& spec) {
  if (object.contains("user")) {
    auto fields = get_object(object, "user");
    if (!fields) return propagate(fields);
    auto user = read_user(**fields, where);
    if (!user) return propagate(user);
    spec.user = std::move(*user);
  }
  if (const auto umask = optional_int(object, "umask")) {
    spec.umask = static_cast<unsigned>(*umask) & 0777U;
  }
  if (!object.contains("limits")) return {};
  auto limits = get_object(object, "limits");
  if (!limits) return propagate(limits);
  for (const auto& [name, pair] : **limits) {
    const json::array* both = pair.if_array();
    const auto soft = both != nullptr && both->size() == 2 ? limit_of((*both)[0]) : std::nullopt;
    const auto hard = soft ? limit_of((*both)[1]) : std::nullopt;
    if (!hard || find_resource(name) == nullptr) {
      return fail(ErrorKind::corrupt, fmt::format("has no limit in '{}'", std::string_view(name)),
                  where);
    }
    spec.limits.push_back({name, *soft, *hard});
  }
  return {};
}

Status read_version_4(const json::object& object, const std::string& where, LaunchSpec& spec) {
  const std::int64_t number = int_or(object, "stop_signal", SIGTERM);
  if (number < 1 || number >= NSIG) return fail(ErrorKind::corrupt, "names no signal", where);
  spec.stop_signal = static_cast<int>(number);
  return {};
}

json::object limits_json(const std::vector<ResourceLimit>& limits) {
  json::object out;
  for (const ResourceLimit& limit : limits) {
    out[limit.name] = json::array{limit_text(limit.soft), limit_text(limit.hard)};
  }
  return out;
}

// The oldest that has all of it.
std::int64_t version_of(const LaunchSpec& spec) {
  if (spec.stop_signal != SIGTERM) return 4;
  return spec.user || spec.umask || !spec.limits.empty() ? 3 : usual_version;
}

}  // namespace

std::string to_json_text(const LaunchSpec& spec) {
  json::object object{{"version", version_of(spec)},
                      {"run", spec.run},
                      {"attempt", spec.attempt},
                      {"nonce", spec.nonce},
                      {"argv", json::value_from(spec.argv)},
                      {"environment", json::value_from(spec.environment)},
                      {"directory", spec.directory.string()},
                      {"log_max_bytes", spec.log_max_bytes},
                      {"log_keep", spec.log_keep},
                      {"cgroup", spec.cgroup},
                      {"containment", spec.containment},
                      {"kill_wait_ms", spec.kill_wait_ms}};
  if (spec.memory_limit_bytes) object["memory_limit_bytes"] = *spec.memory_limit_bytes;
  if (spec.oom_score_adj) object["oom_score_adj"] = *spec.oom_score_adj;
  if (spec.user) {
    object["user"] = {{"uid", spec.user->user},
                      {"gid", spec.user->group},
                      {"groups", json::value_from(spec.user->groups)}};
  }
  if (spec.umask) object["umask"] = *spec.umask;
  if (!spec.limits.empty()) object["limits"] = limits_json(spec.limits);
  if (spec.stop_signal != SIGTERM) object["stop_signal"] = spec.stop_signal;
  if (spec.memory != LaunchSpec::Memory::none) {
    object["memory"] = spec.memory == LaunchSpec::Memory::take ? "take" : "fresh";
  }
  if (spec.shortened) object["shortened"] = true;
  return json::serialize(object);
}

namespace {

Result<LaunchSpec> parse_launch_spec(Result<std::string> text, const std::filesystem::path& file) {
  if (!text) return propagate(text);
  auto value = parse_json(*text, file.string());
  if (!value) return propagate(value);
  const json::object* object = value->if_object();
  const std::int64_t version = object == nullptr ? 0 : int_or(*object, "version", 0);
  if (version < 1) return fail(ErrorKind::corrupt, "is not a launch file", file.string());
  if (version > newest_version) {
    return fail(ErrorKind::usage,
                fmt::format("is a launch file of version {}; this program reads up to {}", version,
                            newest_version),
                file.string(), "install trainwardd and trainward-shim of one release");
  }
  LaunchSpec spec;
  spec.run = string_or(*object, "run", "");
  spec.attempt = int_or(*object, "attempt", 0);
  spec.nonce = string_or(*object, "nonce", "");
  spec.directory = string_or(*object, "directory", "/");
  if (auto ok = read_command(*object, file.string(), spec); !ok) return propagate(ok);
  if (version >= 2) read_version_2(*object, spec);
  if (version >= 3) {
    if (auto ok = read_version_3(*object, file.string(), spec); !ok) return propagate(ok);
  }
  if (version >= 4) {
    if (auto ok = read_version_4(*object, file.string(), spec); !ok) return propagate(ok);
  }
  spec.shortened = bool_or(*object, "shortened", false);
  return spec;
}

}  // namespace

Result<LaunchSpec> read_launch_spec(const std::filesystem::path& file) {
  return parse_launch_spec(read_file(file, max_spec_bytes), file);
}

Result<LaunchSpec> read_launch_spec(const Folder& folder, const std::string& name) {
  return parse_launch_spec(folder.read(name, max_spec_bytes), folder.path() / name);
}

Status shorten_launch_file(const std::filesystem::path& file) {
  struct stat info {};
  // Only whole ones are for the user alone: a look at the mode spares reading thousands.
  if (::stat(file.c_str(), &info) != 0 || (info.st_mode & S_IRWXG) != 0) return {};
  auto spec = read_launch_spec(file);
  if (!spec) {
    // A full disk, or the daemon's end, has cut it off: nothing was launched after it.
    const auto text = read_file(file, max_spec_bytes);
    const bool torn = text && (text->empty() || text->starts_with(R"({"version":)"));
    if (spec.error().kind != ErrorKind::corrupt || !torn) return propagate(spec);
    return write_file_durably(file, "", 0640);
  }
  if (spec->shortened) return {};
  spec->shortened = true;
  spec->argv.resize(1);
  for (auto& [key, value] : spec->environment) {
    const bool ours = std::find(kept_values.begin(), kept_values.end(), key) != kept_values.end();
    if (!ours) value.clear();
  }
  if (auto ok = write_file_durably(file, to_json_text(*spec), 0640); !ok) return ok;
  const std::array<timespec, 2> times{info.st_atim, info.st_mtim};
  if (::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) == 0) return {};
  return fail_errno(errno, "keep the file's time", file.string());
}

}  // namespace trainward
