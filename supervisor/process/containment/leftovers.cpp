#include "supervisor/process/containment/leftovers.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "common/os/clock.hpp"
#include "common/os/processes/process_files.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"
#include "supervisor/process/containment/containment_cgroup.hpp"

namespace trainward::containment {
namespace {

// Groups of this program, by name, that stand somewhere: below this process's own group, or where
// the last attempts' journals say (a daemon may come back in another group than it left).
struct Group {
  Cgroup cgroup;
  std::string attempt;
};

std::optional<std::string> attempt_of(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::string number = name.substr(prefix.size());
  if (number.ends_with(standby_suffix)) number.resize(number.size() - standby_suffix.size());
  if (number.empty()) return std::nullopt;
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return number;
}

void collect(const CgroupHost& host, const std::string& prefix,
             std::map<std::string, Group>& found) {
  for (const auto* parent : {&host.unified, &host.systemd, &host.freezer, &host.memory}) {
    if (parent->empty()) continue;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(*parent, error)) {
      const std::string name = entry.path().filename().string();
      const auto number = attempt_of(name, prefix);
      if (!number) continue;
      found.try_emplace(entry.path().string(), Group{Cgroup::existing(host, name), *number});
    }
  }
}

class Search {
 public:
  explicit Search(const LeftoverQuery& query) : query_(query) {
    for (pid_t pid = ::getpid(); pid > 1; pid = parent_of(pid)) kin_.insert(pid);
  }

  std::map<std::string, Group> groups() const {
    std::map<std::string, Group> found;
    collect(query_.host, query_.cgroup_prefix, found);
    for (const AttemptFacts& facts : newest_attempts(query_.attempts)) {
      if (facts.cgroup.empty() || found.contains(facts.cgroup.string())) continue;
      // Which hierarchy it stands in does not matter here: it is one that tracks.
      const CgroupHost host{facts.cgroup.parent_path(), {}, {}, {}};
      collect(host, query_.cgroup_prefix, found);
    }
    return found;
  }

  bool leftover(pid_t pid) {
    if (kin_.contains(pid)) return false;
    const std::string environment = read_proc(host::process_folder("/", pid) / "environ");
    if (variable(environment, env::run) != query_.run ||
        variable(environment, env::checkpoint_dir) != query_.checkpoint_dir.native() ||
        (!query_.except_nonce.empty() &&
         variable(environment, env::nonce) == query_.except_nonce)) {
      return false;
    }
    return !lives(std::string(variable(environment, env::attempt)));
  }

  // Whether the attempt's shim does.
  bool lives(const std::string& attempt) {
    const auto known = lives_.find(attempt);
    if (known != lives_.end()) return known->second;
    const auto folder = find_attempt(query_.attempts, attempt);
    const bool alive = folder && shim_lives(*folder);
    lives_.emplace(attempt, alive);
    return alive;
  }

 private:
  const LeftoverQuery& query_;
  std::set<pid_t> kin_;  // this process and those above it
  std::map<std::string, bool> lives_;
};

}  // namespace

std::string cgroup_prefix(const std::filesystem::path& state, const std::string& run) {
  std::uint32_t hash = 2166136261U;  // FNV-1a: short, and the same in every release
  for (const char c : state.native()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  std::string name = run;
  std::replace(name.begin(), name.end(), '/', '_');
  return fmt::format("trainward.{:08x}.{}.", hash, name);
}

Cleared clear_leftovers(const LeftoverQuery& query) {
  Cleared cleared;
  Search search(query);
  auto groups = search.groups();
  std::erase_if(groups, [&](const auto& entry) {
    const std::string& attempt = entry.second.attempt;
    return attempt == query.except_attempt || search.lives(attempt);
  });
  if (groups.empty() && last_attempt_settled(query.attempts)) return cleared;
  cleared.searched = true;

  const MonoTime deadline = now().mono + query.wait_ms;
  std::set<pid_t> killed;
  for (;;) {
    std::set<pid_t> targets;
    for (const auto& [path, group] : groups) {
      for (const pid_t pid : group.cgroup.processes()) targets.insert(pid);
    }
    const std::set<pid_t> grouped = targets;
    for (const pid_t pid : all_processes()) {
      if (search.leftover(pid) && !is_zombie(pid)) targets.insert(pid);
    }
    if (targets.empty()) break;
    killed.insert(targets.begin(), targets.end());
    for (const auto& [path, group] : groups) group.cgroup.kill();
    const auto left = std::max<std::int64_t>(deadline - now().mono, 0);
    const auto stay =
        kill_and_wait({targets.begin(), targets.end()}, static_cast<int>(left),
                      [&](pid_t pid) { return grouped.contains(pid) || search.leftover(pid); });
    if (now().mono < deadline) continue;  // look again: one may have forked meanwhile
    for (const pid_t pid : stay) {
      cleared.survivors.push_back(describe(pid));
      killed.erase(pid);
    }
    break;
  }
  for (const auto& [path, group] : groups) group.cgroup.remove();
  cleared.killed = static_cast<int>(killed.size());
  return cleared;
}

}  // namespace trainward::containment
