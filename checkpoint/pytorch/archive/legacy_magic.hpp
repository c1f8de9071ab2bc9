// The start of torch.save's legacy layout: a pickle of one number, then a pickle of another.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainward::checkpoint::pytorch {

inline constexpr std::string_view legacy_magic{
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15};
inline constexpr std::int64_t legacy_protocol = 1001;

}  // namespace trainward::checkpoint::pytorch
