// SHA-256, for names that must not collide: configuration and checkpoint digests.
#pragma once

#include <nettle/sha2.h>

#include <string>
#include <string_view>

namespace trainward {

class Sha256 {
 public:
  Sha256();

  void update(std::string_view bytes);
  // 64 hexadecimal digits; resets the digest.
  std::string finish();

 private:
  sha256_ctx context_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace trainward
