// Reading what plugins answer.
#pragma once

#include <string>

#include "trainer/pjrt/device_error.hpp"

namespace trainward::pjrt {

// A plugin that has no words for something has none; other errors are errors.
inline Outcome<void> if_told(Outcome<void> asked) {
  if (!asked && asked.error().code == ErrorCode::unimplemented) return {};
  return asked;
}

inline std::string text_of(const char* bytes, std::size_t size) {
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

}  // namespace trainward::pjrt
