// What the courier remembers: STATE_DIR/courier.db, one SQLite file beside the run database, which
// the courier alone writes and anybody may read. The daemon is never held up by it, and the courier
// never writes into the run database.
//
// Each capability has tables of its own and says so here: `tables` is SQL that makes them when they
// are missing ("create table if not exists …"), run when the file is opened. A column is only ever
// added (`alter table` behind a check of pragma table_info, or another table). Commits survive the
// death of the process and a power cut (synchronous = full): what was sent is on record before the
// next is.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::courier {

class Journal {
 public:
  // Created if it is missing (mode 0640). A damaged file is set aside (courier.db.damaged-TIME)
  // and a new one created: what was in doubt is then sent again rather than lost.
  static Result<std::unique_ptr<Journal>> open(const std::filesystem::path& file,
                                               const std::vector<std::string>& tables);

  // When it was recreated because its predecessor was damaged, in wall ms; 0: it was not. Whom the
  // damaged one had recorded as told is then unknown.
  [[nodiscard]] std::int64_t made_after_damage_ms() const { return made_after_damage_ms_; }

  // One transaction: all of `write` or, when it fails, nothing. Other threads wait meanwhile, so
  // nothing that takes long is done in there.
  Status transact(const std::function<Status(store::Connection&)>& write);
  // Rows read outside of a transaction, also under the lock.
  Status read(const std::function<Status(store::Connection&)>& look);

 private:
  Journal(std::unique_ptr<store::Connection> connection, std::int64_t made_after_damage_ms);
  std::mutex mutex_;
  std::unique_ptr<store::Connection> connection_;
  std::int64_t made_after_damage_ms_;
};

}  // namespace trainward::courier
