// Numbers that nobody can guess, and their comparison.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::api {

// 256 bits of the kernel's, as 64 hexadecimal digits. Never waits: kind transient while the
// kernel's pool is not ready, which ends within seconds of the machine's start.
Result<std::string> new_secret();

// What is kept and compared in place of a secret: SHA-256. To look one up by it tells nobody who
// measures the time anything that could be used, since a digest near another is of no use.
std::string digest_of(std::string_view secret);

// In a time that depends on the lengths alone.
bool same_digest(std::string_view one, std::string_view other);

}  // namespace trainward::api
