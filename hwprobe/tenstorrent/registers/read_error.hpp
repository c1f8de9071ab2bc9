// Errors of reads that keep the kernel's name for them, so that a recording can hold it and a
// replay can give the same error again.
//
// In: an errno number or its name. Out: an Error whose `what` begins with the name ("ENODEV: No
// such device"), of kind transient when trying again can help.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

tl::unexpected<Error> fail_read(int error_number, std::string where);
// A name that this system does not know is kept as it is.
tl::unexpected<Error> fail_read(std::string_view error_name, std::string where);

// The name in such an error; "EPERM" for a refused address, "EIO" for any other error.
std::string error_name(const Error& error);

}  // namespace trainward::hwprobe
