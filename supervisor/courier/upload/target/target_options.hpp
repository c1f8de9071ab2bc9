// What every target is given besides its place.
#pragma once

#include <cstdint>
#include <stop_token>

#include "supervisor/courier/net/http_client.hpp"

namespace trainward::upload {

struct TargetOptions {
  net::Settings network = {};
  std::stop_token stop = {};          // ends what is under way, kind transient
  std::int64_t bytes_per_second = 0;  // of checkpoints' bytes, either way; 0: no limit
};

}  // namespace trainward::upload
