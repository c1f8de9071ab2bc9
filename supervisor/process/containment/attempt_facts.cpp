#include "supervisor/process/containment/attempt_facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "common/base/json/json.hpp"
#include "common/base/number_in.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/processes/process_files.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::containment {
namespace {

// Longer than "started", and than any record that ends an attempt.
constexpr std::size_t edge_bytes = 16 * 1024;

std::string read_at(int fd, std::int64_t offset) {
  std::string text(edge_bytes, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), offset);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

std::optional<std::int64_t> number_of(const std::filesystem::path& folder) {
  return number_in<std::int64_t>(folder.filename().string());
}

json::object parse(std::string_view line) {
  auto value = parse_json(line, "journal");
  return value && value->is_object() ? std::move(value->get_object()) : json::object{};
}

// "…/trainward-shim FOLDER", or what becomes it under systemd: "…/trainward-unit scope … FOLDER".
bool is_shim_of(std::string_view command, const std::filesystem::path& folder) {
  const std::string_view program = command.substr(0, command.find('\0'));
  const bool ours = program.ends_with("trainward-shim") || program.ends_with("trainward-unit");
  return ours && command.ends_with('\0' + folder.native() + '\0');
}

}  // namespace

void take_processes(AttemptFacts& facts, const json::object& started) {
  const std::string boot = string_or(started, "boot_id", "");
  const auto process = [&](const char* pid, const char* ticks) {
    return ProcessId{static_cast<pid_t>(int_or(started, pid, 0)),
                     static_cast<std::uint64_t>(int_or(started, ticks, 0)), boot};
  };
  facts.shim = process("shim_pid", "shim_start_ticks");
  facts.worker = process("pid", "start_ticks");
  facts.cgroup = string_or(started, "cgroup", "");
}

AttemptFacts read_attempt(const std::filesystem::path& folder) {
  AttemptFacts facts;
  facts.folder = folder;
  auto fd = open_regular(folder / attempt_files::journal, O_RDONLY);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0) return facts;
  const std::string head = read_at(fd->get(), 0);
  const json::object first = parse(std::string_view(head).substr(0, head.find('\n')));
  if (string_or(first, "type", "") == "started") {
    take_processes(facts, first);
  }
  std::string tail =
      read_at(fd->get(), std::max<std::int64_t>(info.st_size - std::int64_t{edge_bytes}, 0));
  if (!tail.ends_with('\n')) return facts;  // a torn record: the shim did not end in peace
  tail.pop_back();
  const auto before = tail.rfind('\n');
  const json::object last =
      parse(std::string_view(tail).substr(before == std::string::npos ? 0 : before + 1));
  const std::string type = string_or(last, "type", "");
  facts.settled = type == "exited" || type == "exec_failed" || type == "gone";
  return facts;
}

std::vector<AttemptFolder> attempt_folders(const std::filesystem::path& attempts) {
  std::vector<AttemptFolder> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(attempts, error)) {
    if (const auto number = number_of(entry.path())) found.push_back({*number, entry.path()});
  }
  std::sort(found.begin(), found.end(),
            [](const AttemptFolder& a, const AttemptFolder& b) { return a.number < b.number; });
  return found;
}

std::vector<AttemptFacts> newest_attempts(const std::filesystem::path& attempts) {
  const auto found = attempt_folders(attempts);
  std::vector<AttemptFacts> facts;
  for (auto newest = found.rbegin(); newest != found.rend() && facts.size() < 2; ++newest) {
    facts.push_back(read_attempt(newest->folder));
  }
  return facts;
}

std::optional<std::filesystem::path> find_attempt(const std::filesystem::path& attempts,
                                                  const std::string& number) {
  const auto wanted = number_of(number);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(attempts, error)) {
    if (wanted && number_of(entry.path()) == wanted) return entry.path();
  }
  return std::nullopt;
}

std::optional<ProcessId> shim_by_name(const std::filesystem::path& folder) {
  for (const pid_t pid : all_processes()) {
    const std::filesystem::path place = host::process_folder("/", pid);
    const std::string command = read_proc(place / "cmdline");
    if (!is_shim_of(command, folder)) continue;
    // Anybody can call a process of his like that.
    struct stat info {};
    if (::stat(place.c_str(), &info) != 0 || info.st_uid != ::geteuid()) continue;
    if (auto found = identify(pid); found && !is_zombie(pid)) return *found;
  }
  return std::nullopt;
}

bool shim_lives(const std::filesystem::path& folder) {
  const AttemptFacts facts = read_attempt(folder);
  if (facts.shim) return open_process(*facts.shim).has_value() && !is_zombie(facts.shim->pid);
  return !facts.settled && shim_by_name(folder).has_value();
}

bool last_attempt_settled(const std::filesystem::path& attempts) {
  const auto newest = newest_attempts(attempts);
  return std::all_of(newest.begin(), newest.end(),
                     [](const AttemptFacts& facts) { return facts.settled; });
}

}  // namespace trainward::containment
