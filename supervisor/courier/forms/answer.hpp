// What an answer means for a message: taken, to be tried again, refused for now, or never. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/channel_kinds.hpp"

namespace trainward::courier {

struct Verdict {
  // refused: as somebody or something on the way has it now; once that was put right it may be
  // taken. never: this message will not be.
  enum class Kind { taken, again, refused, never };
  Kind kind = Kind::taken;
  // What happened and what to do about it; nothing of what the server said, which may repeat a
  // secret. Empty: taken.
  std::string words = {};
  std::optional<std::int64_t> wait_ms = {};  // what the server asks for
};

Verdict verdict_on(orders::ChannelKind kind, const net::Answer& answer, std::int64_t now_ms);

// Of a program's exit status: 75 (EX_TEMPFAIL) asks for another try. So does a sendmail that did
// not reach its server, which has a number for each of the reasons (sysexits.h).
Verdict verdict_on_exit(orders::ChannelKind kind, int status);

}  // namespace trainward::courier
