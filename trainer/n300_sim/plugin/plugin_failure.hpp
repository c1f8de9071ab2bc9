// How a call of the plugin fails: a code, what PJRT_Error_Message says, and what stderr says.
//
// Tenstorrent's plugin says "Error code: 13" whatever has happened, and leaves the reason on
// stderr; so does this one for whatever the device itself fails at.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "trainer/pjrt/abi/types.hpp"

namespace trainward::n300 {

struct Failure {
  pjrt::abi::Error_Code code = pjrt::abi::Error_Code_INTERNAL;
  std::string text;
  std::string report;  // for stderr, whole lines; may be empty
};

template <typename T>
using Answer = tl::expected<T, Failure>;

// As the real plugin fails: error 13, and the reason on stderr.
tl::unexpected<Failure> fail_internally(std::string report);
// What the real plugin does not do. It says nothing more.
tl::unexpected<Failure> fail_unimplemented();
// What only a simulation knows of: its own mistakes are told in the error itself.
tl::unexpected<Failure> fail_with(pjrt::abi::Error_Code code, std::string text);

template <typename T>
tl::unexpected<Failure> pass_on(Answer<T>& answer) {
  return tl::unexpected<Failure>(std::move(answer).error());
}

}  // namespace trainward::n300
