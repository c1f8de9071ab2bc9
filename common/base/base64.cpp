#include "common/base/base64.hpp"

#include <nettle/base64.h>

#include <cstdint>

namespace trainward {

std::string base64(std::string_view bytes) {
  std::string out(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  if (bytes.empty()) return out;
  base64_encode_raw(out.data(), bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return out;
}

Result<std::string> from_base64(std::string_view text) {
  base64_decode_ctx context{};
  base64_decode_init(&context);
  std::string out(BASE64_DECODE_LENGTH(text.size()), '\0');
  std::size_t size = out.size();
  const bool whole =
      base64_decode_update(&context, &size, reinterpret_cast<std::uint8_t*>(out.data()),
                           text.size(), text.data()) == 1 &&
      base64_decode_final(&context) == 1;
  if (!whole) return fail(ErrorKind::usage, "is not base64");
  out.resize(size);
  return out;
}

}  // namespace trainward
