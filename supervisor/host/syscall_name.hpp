// Names of the system calls that programs wait in.
#pragma once

#include <cstdint>
#include <string>

namespace trainward::host {

// "futex", "ioctl", …; "system call 123" for one without a name here. The number is this machine's.
std::string syscall_name(std::int64_t number);

}  // namespace trainward::host
