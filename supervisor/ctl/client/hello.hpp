// The first line each way: who asks for which place, and who answers. Pure.
//
// Whatever a login on that machine prints before our line (a banner, a profile's echo) is passed
// over.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::ctl::remote {

struct Hello {
  std::int64_t protocol = 1;  // of the frames behind it
  std::string version;        // of the trainwardctl that says it
  std::string place;          // asked for: a state folder or a socket; answered: the socket
};

inline constexpr std::int64_t protocol_spoken = 1;

std::string hello_line(const Hello& hello);

// Takes lines from the front of `bytes` until one is a hello; nothing until then. Kind
// corrupt when what comes is longer than any profile prints.
Result<std::optional<Hello>> take_hello(std::string& bytes);

}  // namespace trainward::ctl::remote
