// SHA-256, for names that must not collide: configuration and checkpoint digests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace trainward {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  // 64 hexadecimal digits; the object is spent afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace trainward
