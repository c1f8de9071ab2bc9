#include "supervisor/daemon/records/rebuild.hpp"

#include "common/os/clock.hpp"
#include "supervisor/daemon/records/replay.hpp"

namespace trainward::daemon {

Result<Rebuilt> rebuild(store::Store& store, const Paths& paths,
                        const std::vector<config::Program>& programs,
                        const CrashRules::Reader& read_logs) {
  Rebuilt rebuilt;
  auto transaction = store.begin();
  if (!transaction) return propagate(transaction);
  for (const config::Program& program : programs) {
    std::vector<PastAttempt> past = past_attempts(paths, program.name);
    if (past.empty()) continue;
    rebuilt.attempts += static_cast<std::int64_t>(past.size());
    auto steps = Replay(store, paths, program, read_logs).run(past);
    if (!steps) return propagate(steps);
    rebuilt.steps += *steps;
  }
  // In the same transaction: a database with a boot id is whole.
  if (auto noted = store.put_boot_id(boot_id(), now().wall.ms); !noted) return propagate(noted);
  if (auto committed = transaction->commit(); !committed) return propagate(committed);
  return rebuilt;
}

}  // namespace trainward::daemon
