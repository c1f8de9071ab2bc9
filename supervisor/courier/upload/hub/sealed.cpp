#include "supervisor/courier/upload/hub/sealed.hpp"

#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <sys/random.h>

#include <array>
#include <cstdint>

#include "common/base/base64.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::string_view purpose = "trainward: addresses of an upload";

std::uint8_t* octets(std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); }
const std::uint8_t* octets(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

gcm_aes256_ctx cipher_of(std::string_view token, std::string_view nonce) {
  hmac_sha256_ctx hmac{};
  hmac_sha256_set_key(&hmac, token.size(), octets(token));
  hmac_sha256_update(&hmac, purpose.size(), octets(purpose));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> key{};
  hmac_sha256_digest(&hmac, key.size(), key.data());
  gcm_aes256_ctx cipher{};
  gcm_aes256_set_key(&cipher, key.data());
  gcm_aes256_set_iv(&cipher, nonce.size(), octets(nonce));
  return cipher;
}

}  // namespace

// Nonce, text, tag.
std::string seal(std::string_view text, std::string_view token) {
  std::string nonce(GCM_IV_SIZE, '\0');
  if (::getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size())) return {};
  gcm_aes256_ctx cipher = cipher_of(token, nonce);
  std::string secret(text.size(), '\0');
  gcm_aes256_encrypt(&cipher, text.size(), octets(secret), octets(text));
  std::string tag(GCM_DIGEST_SIZE, '\0');
  gcm_aes256_digest(&cipher, tag.size(), octets(tag));
  return base64(nonce + secret + tag);
}

std::optional<std::string> unseal(std::string_view sealed, std::string_view token) {
  const auto bytes = from_base64(sealed);
  if (!bytes || bytes->size() < GCM_IV_SIZE + GCM_DIGEST_SIZE) return std::nullopt;
  const std::string_view all(*bytes);
  const auto secret = all.substr(GCM_IV_SIZE, all.size() - GCM_IV_SIZE - GCM_DIGEST_SIZE);
  gcm_aes256_ctx cipher = cipher_of(token, all.substr(0, GCM_IV_SIZE));
  std::string text(secret.size(), '\0');
  gcm_aes256_decrypt(&cipher, secret.size(), octets(text), octets(secret));
  std::string tag(GCM_DIGEST_SIZE, '\0');
  gcm_aes256_digest(&cipher, tag.size(), octets(tag));
  const std::string_view said = all.substr(all.size() - GCM_DIGEST_SIZE);
  if (memeql_sec(tag.data(), said.data(), tag.size()) != 1) return std::nullopt;
  return text;
}

}  // namespace trainward::upload::hub
