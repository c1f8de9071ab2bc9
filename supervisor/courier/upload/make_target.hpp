// A target made of what the configuration says of it.
#pragma once

#include <memory>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/target/target_options.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::upload {

// `memory` must outlive it. Nothing is asked of the place yet.
Result<std::unique_ptr<Target>> make_target(const orders::Target& target, Memory& memory,
                                            const TargetOptions& options);

}  // namespace trainward::upload
