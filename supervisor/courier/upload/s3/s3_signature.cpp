#include "supervisor/courier/upload/s3/s3_signature.hpp"

#include <fmt/format.h>
#include <nettle/hmac.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include "common/base/digest.hpp"
#include "common/base/percent.hpp"

namespace trainward::upload::s3 {
namespace {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

Digest hmac(std::string_view key, std::string_view text) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), bytes_of(key));
  hmac_sha256_update(&context, text.size(), bytes_of(text));
  Digest out{};
  hmac_sha256_digest(&context, out.size(), out.data());
  return out;
}

std::string_view view_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Pairs sorted(Pairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::string signed_names(const Pairs& headers) {
  std::string out;
  for (const auto& [name, value] : sorted(headers)) {
    if (!out.empty()) out += ';';
    out += name;
  }
  return out;
}

// Without spaces at its ends, and one where there were several.
std::string squeezed(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string scope(std::string_view time, std::string_view region, std::string_view service) {
  return fmt::format("{}/{}/{}/aws4_request", time.substr(0, 8), region, service);
}

}  // namespace

std::string query_text(const Pairs& query) {
  Pairs ready;
  for (const auto& [name, value] : query) {
    ready.emplace_back(percent_encoded(name), percent_encoded(value));
  }
  std::string out;
  for (const auto& [name, value] : sorted(std::move(ready))) {
    if (!out.empty()) out += '&';
    out += name + "=" + value;
  }
  return out;
}

std::string canonical_request(const ToSign& request) {
  std::string out = request.method + "\n" + request.path + "\n" + query_text(request.query) + "\n";
  for (const auto& [name, value] : sorted(request.headers)) {
    out += name + ":" + squeezed(value) + "\n";
  }
  return out + "\n" + signed_names(request.headers) + "\n" + request.payload_sha256;
}

std::string string_to_sign(const ToSign& request, std::string_view time, std::string_view region,
                           std::string_view service) {
  return fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope(time, region, service),
                     sha256_hex(canonical_request(request)));
}

std::string authorization(const ToSign& request, const Keys& keys, std::string_view time,
                          std::string_view region, std::string_view service) {
  const Digest date = hmac("AWS4" + keys.secret, time.substr(0, 8));
  const Digest of_region = hmac(view_of(date), region);
  const Digest of_service = hmac(view_of(of_region), service);
  const Digest key = hmac(view_of(of_service), "aws4_request");
  std::string signature;
  for (const std::uint8_t byte :
       hmac(view_of(key), string_to_sign(request, time, region, service))) {
    fmt::format_to(std::back_inserter(signature), "{:02x}", byte);
  }
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", keys.id,
                     scope(time, region, service), signed_names(request.headers), signature);
}

std::string signing_time(std::int64_t wall_ms) {
  const std::time_t seconds = wall_ms / 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace trainward::upload::s3
