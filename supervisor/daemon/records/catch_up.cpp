#include "supervisor/daemon/records/catch_up.hpp"

#include <utility>

#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::daemon {
namespace {

// What was decided and never begun has an empty folder at most.
bool begun(const PastAttempt& past) { return past.launched != Time{}; }

}  // namespace

Result<std::int64_t> catch_up(store::Store& store, const Paths& paths,
                              const config::Program& program, const CrashRules::Reader& read_logs) {
  auto known = store.newest_attempt(program.name);
  if (!known) return propagate(known);
  const std::int64_t newest = *known ? (*known)->number : 0;
  const auto folders = containment::attempt_folders(paths.attempts(program.name));
  if (folders.empty() || folders.back().number <= newest) return 0;

  std::vector<PastAttempt> past = past_attempts(paths, program.name, newest + 1);
  std::erase_if(past, [](const PastAttempt& one) { return !begun(one); });
  if (past.empty()) return 0;
  auto stored = stored_state(store, paths, program);
  if (!stored) return propagate(stored);
  auto transaction = store.begin();
  if (!transaction) return propagate(transaction);
  Replay replay(store, paths, program, read_logs);
  auto told = *stored ? replay.go_on(std::move(**stored), past) : replay.run(past);
  if (!told) return propagate(told);
  if (auto committed = transaction->commit(); !committed) return propagate(committed);
  return static_cast<std::int64_t>(past.size());
}

}  // namespace trainward::daemon
