#include "common/os/processes/process_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "common/os/processes/host_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t stat_bytes = 4096;
constexpr std::size_t status_bytes = 16 * 1024;
constexpr std::size_t threads_asked = 16 * 1024;  // in all, for the children they started
constexpr std::size_t children_bytes = 1024 * 1024;
constexpr std::size_t machine_processes = 32 * 1024;

using Children = std::vector<pid_t>;

// Each thread has children of its own. Nothing when this kernel does not publish them.
std::optional<Children> listed_children(const std::filesystem::path& root, pid_t pid,
                                        std::size_t& threads_left) {
  const auto tasks = process_folder(root, pid) / "task";
  bool published = false;
  Children children;
  for (const pid_t thread : numbers_in(tasks, threads_left)) {
    --threads_left;
    const auto text = read_some(tasks / std::to_string(thread) / "children", children_bytes);
    if (!text) continue;
    published = true;
    const Children more = processes_in(*text);
    children.insert(children.end(), more.begin(), more.end());
  }
  if (!published) return std::nullopt;
  return children;
}

// The same for all processes of the machine, by asking each for its parent.
std::map<pid_t, Children> children_by_parent(const std::filesystem::path& root) {
  std::map<pid_t, Children> children;
  for (const pid_t pid : numbers_in(below(root, "/proc"), machine_processes)) {
    if (const auto stat = read_stat(root, pid)) children[stat->parent].push_back(pid);
  }
  return children;
}

}  // namespace

std::filesystem::path process_folder(const std::filesystem::path& root, pid_t pid) {
  return below(root, "/proc") / std::to_string(pid);
}

std::optional<ProcessStat> parse_stat(std::string_view text) {
  // "123 (name) S 1 …": the name may hold spaces and brackets, so fields count from the last ')'.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcessStat stat;
  stat.name = printable(text.substr(open + 1, close - open - 1), 64);
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = take_word(rest);
  if (state.size() != 1) return std::nullopt;
  stat.state = state[0];
  std::array<std::int64_t, 19> fields{};  // 4 to 22 in proc(5); some are negative: not of interest
  for (std::int64_t& field : fields) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return std::nullopt;
    field = whole_number(word).value_or(-1);
  }
  constexpr std::size_t first = 4;
  const std::int64_t parent = fields[4 - first];
  stat.start_ticks = fields[22 - first];
  if (parent < 0 || parent > INT32_MAX || stat.start_ticks < 0) return std::nullopt;
  stat.parent = static_cast<pid_t>(parent);
  stat.group = static_cast<pid_t>(std::clamp<std::int64_t>(fields[5 - first], 0, INT32_MAX));
  const auto ticks = [&](std::size_t field) {
    return std::max<std::int64_t>(fields.at(field - first), 0);
  };
  stat.own_ticks = add_up(ticks(14), ticks(15));
  stat.children_ticks = add_up(ticks(16), ticks(17));
  return stat;
}

std::optional<ProcessStat> read_stat(const std::filesystem::path& root, pid_t pid) {
  const auto text = read_some(process_folder(root, pid) / "stat", stat_bytes);
  return text ? parse_stat(*text) : std::nullopt;
}

std::optional<ProcessStat> read_thread_stat(const std::filesystem::path& root, pid_t pid,
                                            pid_t thread) {
  const auto file = process_folder(root, pid) / "task" / std::to_string(thread) / "stat";
  const auto text = read_some(file, stat_bytes);
  return text ? parse_stat(*text) : std::nullopt;
}

std::vector<pid_t> process_tree(const std::filesystem::path& root, pid_t pid) {
  std::vector<pid_t> tree;
  if (!read_stat(root, pid)) return tree;
  std::optional<std::map<pid_t, Children>> all;  // only where the kernel lists no children
  std::unordered_set<pid_t> seen{pid};           // a hostile tree could run in a circle
  std::size_t threads_left = threads_asked;
  tree.push_back(pid);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    auto children = all ? std::nullopt : listed_children(root, tree[i], threads_left);
    if (!children && i == 0) all = children_by_parent(root);
    if (!children && all) children = (*all)[tree[i]];
    for (const pid_t child : children.value_or(Children{})) {
      if (tree.size() == most_processes) return tree;
      if (seen.insert(child).second) tree.push_back(child);
    }
  }
  return tree;
}

std::vector<pid_t> children_of(const std::filesystem::path& root, pid_t pid) {
  std::size_t threads_left = threads_asked;
  return listed_children(root, pid, threads_left).value_or(Children{});
}

std::string waits_in(const std::filesystem::path& folder) {
  const auto text = read_some(folder / "wchan", 256);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const std::string_view function = take_word(rest);
  return function == "0" ? std::string() : printable(function, 64);
}

std::int64_t private_memory(const std::filesystem::path& root, pid_t pid) {
  const auto status = read_some(process_folder(root, pid) / "status", status_bytes);
  if (!status) return 0;
  const auto kib = [&](std::string_view key) { return number_of_key(*status, key).value_or(0); };
  // Kernels before 4.5 do not tell the kinds apart.
  const bool kinds = number_of_key(*status, "RssAnon").has_value();
  std::int64_t sum = kinds ? add_up(kib("RssAnon"), kib("RssShmem")) : kib("VmRSS");
  sum = add_up(sum, kib("VmSwap"));
  std::int64_t bytes = 0;
  return __builtin_mul_overflow(sum, std::int64_t{1024}, &bytes) ? INT64_MAX : bytes;
}

std::int64_t written_bytes(const std::filesystem::path& root, pid_t pid) {
  const auto io = read_some(process_folder(root, pid) / "io", status_bytes);
  return io ? number_of_key(*io, "wchar").value_or(0) : 0;
}

}  // namespace trainward::host
