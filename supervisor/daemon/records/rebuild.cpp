#include "supervisor/daemon/records/rebuild.hpp"

#include <algorithm>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "supervisor/daemon/records/replay.hpp"

namespace trainward::daemon {

Result<std::filesystem::path> set_aside(const std::filesystem::path& database) {
  std::string stamp = iso8601(now().wall);  // as 20261121T180000Z
  stamp.erase(stamp.find('.'), 4);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string ending = ".damaged-" + stamp;
  // The file itself last: until then the next start finds the damage again.
  for (const char* part : {"-wal", "-shm", ""}) {
    const std::string from = database.string() + part;
    std::error_code error;
    std::filesystem::rename(from, database.string() + ending + part, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      return fail_errno(error.value(), "set the damaged run database aside", from);
    }
  }
  if (auto synced = fsync_folder(database.parent_path()); !synced) return propagate(synced);
  return database.string() + ending;
}

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
