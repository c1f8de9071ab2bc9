#include "hwprobe/stages/board_state.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>

#include "common/base/json/json.hpp"
#include "common/base/json/json_text.hpp"
#include "common/os/file.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t max_bytes = 1024;

// A PCI address, and nothing that would climb out of the folder.
bool is_name(const std::string& board) {
  return !board.empty() && board.size() <= 64 && board.front() != '.' &&
         std::all_of(board.begin(), board.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == ':' || c == '.' || c == '-';
         });
}

std::optional<LeftChild> read_child(const json::object& object) {
  const auto pid = get_int(object, "pid");
  const auto start = get_int(object, "start");
  const auto boot = get_string(object, "boot");
  if (!pid || !start || !boot) return std::nullopt;
  if (*pid <= 0 || *pid > std::numeric_limits<pid_t>::max() || *start < 0) return std::nullopt;
  LeftChild child;
  child.process = {static_cast<pid_t>(*pid), static_cast<std::uint64_t>(*start), *boot};
  child.stage = string_or(object, "stage", "");
  child.since_ms = int_or(object, "since_ms", 0);
  child.killed = bool_or(object, "killed", false);
  return child;
}

}  // namespace

Result<std::optional<BoardState>> BoardState::take(const std::filesystem::path& folder,
                                                   const std::string& board) {
  if (!is_name(board)) return fail(ErrorKind::usage, "is not a board name", board);
  std::filesystem::path path = folder / board;
  // O_NOFOLLOW: the folder may lie where others can write.
  auto file = open_regular(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file) return propagate(file);
  if (::flock(file->get(), LOCK_EX | LOCK_NB) == 0) {
    return BoardState(std::move(*file), std::move(path));
  }
  if (errno == EWOULDBLOCK) return std::nullopt;
  return fail_errno(errno, "lock", path.string());
}

std::optional<LeftChild> BoardState::left() const {
  std::array<std::byte, max_bytes> buffer{};
  const auto got = read_at(file_.get(), buffer, 0, path_);
  if (!got || *got == 0) return std::nullopt;
  std::string text(*got, '\0');
  std::transform(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*got), text.begin(),
                 [](std::byte byte) { return static_cast<char>(byte); });
  const auto value = parse_json(text, path_.string());
  if (!value || !value->is_object()) return std::nullopt;
  return read_child(value->get_object());
}

Status BoardState::remember(const LeftChild& child) {
  JsonText json;
  json.add("pid", std::int64_t{child.process.pid})
      .add("start", static_cast<std::int64_t>(child.process.start_ticks))
      .add("boot", child.process.boot)
      .add("stage", child.stage)
      .add("since_ms", child.since_ms)
      .add("killed", child.killed);
  if (auto emptied = forget(); !emptied) return emptied;
  const std::string text = json.object() + '\n';
  if (::pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return fail_errno(errno, "write", path_.string());
  }
  return {};
}

Status BoardState::forget() {
  if (::ftruncate(file_.get(), 0) != 0) return fail_errno(errno, "empty", path_.string());
  return {};
}

}  // namespace trainward::hwprobe
