// What a daemon goes on from: the state an earlier one has committed for a program or, when that
// cannot be read, what its newest attempt tells.
#pragma once

#include <optional>
#include <string>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/decide/core/state.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

struct Stored {
  core::State state;
  std::int64_t counted = 0;  // of the journal of its attempt, in bytes
  std::string boot_id;       // of the machine's start that it knows of; empty: it does not say
  bool returns = false;      // it was removed, and is in the configuration again
  bool has_more = false;     // it was done, and its configuration asks for more steps now
};

// Nothing for a program without a past in this database.
Result<std::optional<Stored>> stored_state(const store::Store& store, const Paths& paths,
                                           const config::Program& program);

}  // namespace trainward::daemon
