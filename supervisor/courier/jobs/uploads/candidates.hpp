// What the run database says of a program whose checkpoints go up: which there are, and of which
// run.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/upload_policy.hpp"
#include "supervisor/orders/targets.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::courier {

// Verified, and still there.
Result<std::vector<upload::Candidate>> candidates_of(const store::Store& store,
                                                     const orders::Source& source);

// Not known as long as it has had no attempt.
Result<upload::Run> run_of(const store::Store& store, const std::string& program);

}  // namespace trainward::courier
