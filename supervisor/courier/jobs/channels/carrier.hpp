// Carries out what a form asks for, and says what came of it.
#pragma once

#include <cstdint>
#include <stop_token>

#include "supervisor/courier/forms/answer.hpp"
#include "supervisor/courier/forms/form.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/channel_kinds.hpp"

namespace trainward::courier {

struct Outcome {
  Verdict verdict;
  bool in_doubt = false;     // it may have been taken, though nothing came back
  bool interrupted = false;  // by a stop
};

// The words of the verdict name no secret: hosts and programs at most.
Outcome carry(orders::ChannelKind kind, const Call& call, const net::Settings& network,
              const std::stop_token& stop, std::int64_t now_ms);

}  // namespace trainward::courier
