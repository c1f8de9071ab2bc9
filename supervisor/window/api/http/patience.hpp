// How long a listener waits for its clients.
#pragma once

#include <chrono>

namespace trainward::api {

struct Patience {
  std::chrono::milliseconds request{10'000};  // for a client to send its request
  std::chrono::milliseconds rest{15'000};     // between two of them
};

}  // namespace trainward::api
