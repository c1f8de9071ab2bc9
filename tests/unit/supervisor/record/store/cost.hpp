// What reading costs, in instructions of SQLite's machine, which are the same on every machine.
#pragma once

#include <sqlite3.h>

#include "fixture.hpp"

namespace trainward::store {

class CostTest : public StoreTest {
 protected:
  CostTest() { sqlite3_auto_extension(entry_point()); }
  ~CostTest() override { sqlite3_cancel_auto_extension(entry_point()); }

  // Of what `work` does with stores that were opened in this test.
  template <typename Work>
  static std::int64_t cost(Work work) {
    instructions = 0;
    work();
    return instructions;
  }

 private:
  static int count_instructions(sqlite3* db, char** /*error*/,
                                const sqlite3_api_routines* /*routines*/) {
    sqlite3_progress_handler(
        db, 1,
        [](void*) {
          ++instructions;
          return 0;
        },
        nullptr);
    return SQLITE_OK;
  }
  // SQLite calls it with the arguments that it says, and takes it without.
  static void (*entry_point())() { return reinterpret_cast<void (*)()>(&count_instructions); }

  static inline std::int64_t instructions = 0;
};

}  // namespace trainward::store
