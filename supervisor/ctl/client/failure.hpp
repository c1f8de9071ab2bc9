// What went wrong between here and another machine's daemon, in words. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "supervisor/ctl/client/client.hpp"
#include "supervisor/ctl/client/remote_address.hpp"

namespace trainward::ctl::remote {

// How an ssh process ended, or why it did not start.
struct Ending {
  int not_started = 0;           // errno of starting it; 0: it was started
  bool greeted = false;          // trainwardctl there had answered before
  std::optional<int> exit_code;  // none: by a signal
  std::string said;              // what it and the other side wrote to stderr
};

// Said of a request, or of a connection that never came to be.
ClientError ended(const Address& address, const Ending& ending);
// trainwardctl there speaks another protocol.
ClientError other_version(const Address& address, std::int64_t protocol,
                          const std::string& version);
ClientError not_in_time(const Address& address, std::chrono::milliseconds waited);
// errno of connecting to the socket there.
ClientError no_daemon(const Address& address, const std::string& socket, int error_number);

}  // namespace trainward::ctl::remote
