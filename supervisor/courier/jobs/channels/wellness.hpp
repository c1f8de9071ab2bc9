// Whether all is well with a run, by its database: what a dead-man ping stands for.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::courier {

struct Wellness {
  bool well = false;
  std::string words;  // one line: "trainer: step 41,200 is kept"; or what is not well
};

// Every program has kept more than ever before within `progress_within_ms`, was started less long
// ago, was stopped by somebody, or is done. That a process lives is not enough.
Result<Wellness> wellness(const store::Store& store, std::int64_t now_ms,
                          std::int64_t progress_within_ms);

}  // namespace trainward::courier
