// The run database as a daemon opens it: what cannot be used is set aside, and a new one is begun.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

struct RunDatabase {
  store::Store store;
  // What was wrong with the file that lay there, and where it is now; empty: it is the same.
  std::optional<std::string> set_aside;
};

// Sets aside a file that is damaged, or that an earlier daemon has marked as unfit. The new one is
// empty, without a boot id: rebuild() fills it.
Result<RunDatabase> open_run_database(const std::filesystem::path& file);

}  // namespace trainward::daemon
