#include "supervisor/window/api/access/secret.hpp"

#include <fmt/format.h>
#include <nettle/memops.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

#include "common/base/digest.hpp"

namespace trainward::api {

Result<std::string> new_secret() {
  std::array<unsigned char, 32> bytes{};
  const ssize_t got = ::getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK);
  if (got < 0) return fail_errno(errno, "get random numbers of the kernel");
  if (static_cast<std::size_t>(got) != bytes.size()) {
    return fail(ErrorKind::transient, "the kernel gave too few random numbers", "", "ask again");
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string digest_of(std::string_view secret) { return sha256_hex(secret); }

bool same_digest(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::memeql_sec(one.data(), other.data(), one.size()) == 1;
}

}  // namespace trainward::api
