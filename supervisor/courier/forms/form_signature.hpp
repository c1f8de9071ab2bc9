// Signatures of Standard Webhooks 1.0. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::courier {

// The keys in a file of "whsec_" and base64, a line each; blank lines and lines that begin with #
// are passed over. 24 to 64 bytes a key, at most four: more than one while a key is exchanged.
Result<std::vector<std::string>> signing_keys(std::string_view text);

// "v1,BASE64" of HMAC-SHA256 over "id.timestamp.body" with each key, separated by spaces.
std::string signatures(const std::vector<std::string>& keys, std::string_view id,
                       std::string_view timestamp, std::string_view body);

}  // namespace trainward::courier
