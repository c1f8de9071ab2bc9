// Base64 with the usual letters and padding (RFC 4648, section 4). Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward {

std::string base64(std::string_view bytes);

// White space within is passed over. Kind usage for anything else; the error does not repeat what
// stands in it, which may be a secret.
Result<std::string> from_base64(std::string_view text);

}  // namespace trainward
