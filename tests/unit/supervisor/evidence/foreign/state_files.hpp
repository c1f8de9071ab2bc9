// The smallest files of the kinds that hold a model's state.
#pragma once

#include <string>

namespace trainward::foreign {

inline std::string number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// An archive of one empty member, as torch.save writes many of.
inline std::string zip() {
  const std::string local = "PK\x03\x04" + std::string(26, '\0') + "data";
  const std::string directory = "PK\x01\x02" + std::string(42, '\0');
  return local + directory + "PK\x05\x06" + number(0, 8) + number(directory.size(), 4) +
         number(local.size(), 4) + number(0, 2);
}

inline std::string safetensors() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  return number(header.size(), 8) + header + std::string(8, 'x');
}

inline const std::string legacy =
    "\x80\x02\x8a\nl\xfc\x9c"
    "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.";

}  // namespace trainward::foreign
