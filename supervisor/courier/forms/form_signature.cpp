#include "supervisor/courier/forms/form_signature.hpp"

#include <fmt/format.h>
#include <nettle/hmac.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/base/base64.hpp"
#include "common/base/text.hpp"

namespace trainward::courier {
namespace {

constexpr std::string_view prefix = "whsec_";
constexpr std::size_t shortest_key = 24;
constexpr std::size_t longest_key = 64;
constexpr std::size_t most_keys = 4;

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

Result<std::vector<std::string>> signing_keys(std::string_view text) {
  std::vector<std::string> keys;
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto wrong = [number](std::string_view what) {
      return fail(ErrorKind::usage, fmt::format("line {} of the signing keys {}", number, what), "",
                  "a line is whsec_ and base64 of 24 to 64 bytes: `echo whsec_$(head -c 32 "
                  "/dev/urandom | base64)`");
    };
    if (!line.starts_with(prefix)) return wrong("does not begin with whsec_");
    auto key = from_base64(line.substr(prefix.size()));
    if (!key) return wrong("is not base64 behind whsec_");
    if (key->size() < shortest_key || key->size() > longest_key) {
      return wrong(fmt::format("has {} bytes", key->size()));
    }
    if (keys.size() == most_keys) return wrong("is the fifth: four are the most");
    keys.push_back(std::move(*key));
  }
  if (keys.empty()) return fail(ErrorKind::usage, "there is no signing key in it");
  return keys;
}

std::string signatures(const std::vector<std::string>& keys, std::string_view id,
                       std::string_view timestamp, std::string_view body) {
  std::string out;
  for (const std::string& key : keys) {
    hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, key.size(), bytes_of(key));
    for (const std::string_view part :
         {id, std::string_view("."), timestamp, std::string_view("."), body}) {
      hmac_sha256_update(&context, part.size(), bytes_of(part));
    }
    std::array<char, SHA256_DIGEST_SIZE> digest{};
    hmac_sha256_digest(&context, digest.size(), reinterpret_cast<std::uint8_t*>(digest.data()));
    if (!out.empty()) out += ' ';
    out += "v1," + base64({digest.data(), digest.size()});
  }
  return out;
}

}  // namespace trainward::courier
