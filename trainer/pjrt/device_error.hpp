// What a plugin says when a call fails, as a value.
//
// The codes are those every plugin uses. A plugin's text may be empty or say little: Tenstorrent's
// says "Error code: 13" and writes the reason to stderr.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "common/base/error.hpp"

namespace trainward::pjrt {

enum class ErrorCode : int {
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

// As it is written elsewhere: "RESOURCE_EXHAUSTED".
std::string_view to_string(ErrorCode code);

struct DeviceError {
  ErrorCode code = ErrorCode::unknown;
  std::string call;  // "Client_Compile"
  std::string text;  // what the plugin said, or why the call was not made
};

template <typename T>
using Outcome = tl::expected<T, DeviceError>;

inline tl::unexpected<DeviceError> refuse(ErrorCode code, std::string call, std::string text) {
  return tl::unexpected<DeviceError>(DeviceError{code, std::move(call), std::move(text)});
}

// Passes an error of one outcome on as another's.
template <typename T>
tl::unexpected<DeviceError> propagate(Outcome<T>& outcome) {
  return tl::unexpected<DeviceError>(std::move(outcome).error());
}

// "RESOURCE_EXHAUSTED in LoadedExecutable_Execute: text". Transient where a new process may fare
// better: after most device failures the client can no longer be used, but a new one can.
Error to_error(const DeviceError& error);

}  // namespace trainward::pjrt
