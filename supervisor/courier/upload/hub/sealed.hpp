// Text kept on the disk that only who has the token can read: addresses signed for an upload are
// secrets for as long as they are good. AES-256-GCM under a key made of the token. Pure but for the
// random number that each sealing takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainward::upload::hub {

// Base64; empty: the system has no random numbers.
std::string seal(std::string_view text, std::string_view token);

// Nothing: sealed with another token, or damaged.
std::optional<std::string> unseal(std::string_view sealed, std::string_view token);

}  // namespace trainward::upload::hub
