// A compiled program of the simulated device as bytes: the text of its module, in an envelope.
//
//   "TWSIM300"  magic, 8 bytes
//   u32         format version, little endian; 1
//   u64         bytes of text
//   64 digits   SHA-256 of the text, in hexadecimal
//   text
//
// Any bytes will do as input. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::n300 {

std::string seal_program(std::string_view text);

// The text, which borrows from `bytes`. Errors (corrupt) say what is wrong with the envelope.
Result<std::string_view> open_program(std::string_view bytes);

}  // namespace trainward::n300
