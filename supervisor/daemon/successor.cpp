#include "supervisor/daemon/successor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "common/base/text.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "supervisor/daemon/rehearsed_start.hpp"
#include "supervisor/evidence/rules/log_matcher.hpp"
#include "supervisor/record/store/store.hpp"
#include "supervisor/window/api/access/secret.hpp"

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t deadline_ms = 20'000;
constexpr std::string_view name = "trainwardd ";  // before the version
constexpr std::string_view deleted = " (deleted)";

bool is_this_program(const fs::path& path) {
  std::error_code error;
  return fs::equivalent(path, "/proc/self/exe", error) && !error;
}

}  // namespace

fs::path own_executable(const char* argv0) {
  const std::string_view word = argv0 == nullptr ? "" : argv0;
  std::error_code error;
  if (word.find('/') != std::string_view::npos) {
    fs::path path = fs::absolute(word, error);
    if (!error && is_this_program(path)) return path;
  }
  const char* list = std::getenv("PATH");
  std::string_view rest = list == nullptr ? "" : list;
  while (!word.empty() && !rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    fs::path path = fs::path(rest.substr(0, end)) / word;
    if (path.is_absolute() && is_this_program(path)) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::string path = fs::read_symlink("/proc/self/exe", error).string();
  if (path.ends_with(deleted)) path.resize(path.size() - deleted.size());
  return path;
}

fs::path same_program(const fs::path& executable) {
  return is_this_program(executable) ? executable : fs::path("/proc/self/exe");
}

Status check_socket_place(const fs::path& socket, const fs::path& state_dir) {
  // A socket that lives is the running daemon's.
  if (auto place = look_at_place(socket); !place) return propagate(place);
  const fs::path folder = socket.parent_path();
  // The state folder is made where it is missing.
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ||
      (errno == ENOENT && folder == state_dir)) {
    return {};
  }
  return fail_errno(errno, "make the API's socket in this folder", folder.string(),
                    "make the folder, or name another `socket:`");
}

Status check_files(const config::Config& config) {
  if (auto rules = rules::LogMatcher::load(config.rules); !rules) return propagate(rules);
  if (auto place = check_socket_place(config.socket, config.state_dir); !place) return place;
  std::error_code error;
  if (!fs::exists(config.database, error)) return {};
  return store::Store::check(config.database);
}

SuccessorCheck::SuccessorCheck(Loop& loop, fs::path executable, std::vector<std::string> arguments,
                               Done done)
    : loop_(loop),
      executable_(std::move(executable)),
      arguments_(std::move(arguments)),
      done_(std::move(done)),
      child_(std::make_unique<ChildProcess>(
          loop, std::vector<std::string>{executable_.string(), "--version"}, deadline_ms,
          [this](Result<ChildResult> result) { on_version(std::move(result)); })) {}

void SuccessorCheck::on_version(Result<ChildResult> result) {
  if (!result) return done_(propagate(result));
  const std::string_view said = trim(result->standard_output);
  if (result->exit_code != 0 || !said.starts_with(name)) {
    return done_(fail(
        ErrorKind::permanent,
        fmt::format("does not run as trainwardd: {}",
                    result->standard_error.empty() ? fmt::format("exit code {}", result->exit_code)
                                                   : result->standard_error),
        executable_.string(), "nothing was changed; install it again"));
  }
  version_ = said.substr(name.size());
  ask({"--check"}, &SuccessorCheck::on_check);
}

void SuccessorCheck::ask(std::vector<std::string> words,
                         void (SuccessorCheck::*next)(Result<ChildResult>)) {
  words.insert(words.begin(), executable_.string());
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  child_ = std::make_unique<ChildProcess>(
      loop_, std::move(words), deadline_ms,
      [this, next](Result<ChildResult> result) { (this->*next)(std::move(result)); });
}

void SuccessorCheck::on_check(Result<ChildResult> result) {
  if (!result) return done_(propagate(result));
  if (result->exit_code == 0) {
    auto number = api::new_secret();
    if (!number) return done_(propagate(number));
    number_ = std::move(*number);
    return ask({"--rehearse", number_}, &SuccessorCheck::on_rehearsal);
  }
  done_(fail(ErrorKind::permanent,
             fmt::format("version {} refuses the configuration or the run database: {}", version_,
                         result->standard_error),
             executable_.string(), "nothing was changed"));
}

void SuccessorCheck::on_rehearsal(Result<ChildResult> result) {
  if (!result) return done_(propagate(result));
  if (result->exit_code == 0 && trim(result->standard_output) == ready_word(number_)) {
    return done_(version_);
  }
  const std::string said =
      result->exit_code < 0 ? "a signal ended it"
      : !result->standard_error.empty()
          ? result->standard_error
          : fmt::format("it ended with {} before it could supervise", result->exit_code);
  done_(fail(ErrorKind::permanent,
             fmt::format("version {} does not start here: {}", version_, said),
             executable_.string(),
             "nothing was changed; install it again, or end this daemon and start that one"));
}

}  // namespace trainward::daemon
