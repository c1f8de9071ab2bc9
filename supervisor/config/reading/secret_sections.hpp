// Which parts of a configuration may hold a secret, also in a wrong place: what is wrong there is
// said without its value, as messages go to logs and to API clients.
#pragma once

#include "common/yaml/document.hpp"

namespace trainward::config {

// Values below notify, upload, tracking, tokens and environment, but for those whose key takes
// nothing of the kind (a time, a number) and that do look like it.
void mark_secrets(yaml::Node& root);

}  // namespace trainward::config
