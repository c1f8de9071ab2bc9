// What a tracker's server is shown to be let in. Read when it is needed, so that a file that was
// changed counts at once; nothing of it is ever part of an error.
#pragma once

#include <string>

#include "common/base/error.hpp"

namespace trainward::tracking {

// The value of an Authorization header: "Bearer TOKEN", or of `user:password` "Basic …"; "" where
// nothing is to be shown. `named`: a path, a name in $CREDENTIALS_DIRECTORY, "env:NAME", or "" for
// MLFLOW_TRACKING_TOKEN or MLFLOW_TRACKING_USERNAME and _PASSWORD. Kind permanent, with what to do:
// it is not there, empty, or may be read by others than its owner.
Result<std::string> authorization(const std::string& named);

}  // namespace trainward::tracking
