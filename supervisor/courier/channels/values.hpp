// A channel's keys with their secrets, read now: a file that was replaced counts at once.
#pragma once

#include "common/base/error.hpp"
#include "supervisor/courier/channels/forms/form.hpp"
#include "supervisor/orders/channels.hpp"

namespace trainward::courier {

// Never waits. Refused, naming file or variable and never what is in it: what is no file, what
// others than its owner may read or write, what is longer than 64 KiB, a variable that is not set.
Result<Values> values_of(const orders::Channel& channel);

}  // namespace trainward::courier
