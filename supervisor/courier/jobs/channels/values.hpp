// A channel's keys with their secrets, read now: a file that was replaced counts at once.
#pragma once

#include <string>

#include "common/base/error.hpp"
#include "supervisor/courier/forms/form.hpp"
#include "supervisor/orders/channels.hpp"

namespace trainward::courier {

// Never waits. Refused, naming file or variable and never what is in it: what is no file, what
// others than its owner may read or write, what is longer than 64 KiB, a variable that is not set.
Result<Values> values_of(const orders::Channel& channel);

// How its receiver is reached, as a digest that tells nothing of it: another one once a file of it
// was replaced or its configuration was changed, and for every process where a variable is named.
std::string way_of(const orders::Channel& channel);

}  // namespace trainward::courier
