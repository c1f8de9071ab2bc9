// AWS Signature Version 4 as S3 wants it: what a request's Authorization header says. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainward::upload::s3 {

struct Keys {
  std::string id;
  std::string secret;
  std::string session;  // of temporary keys; empty: none
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct ToSign {
  std::string method;
  std::string path;            // encoded, as it is sent: "/bucket/a%2Bb"
  Pairs query;                 // as meant, not encoded, in any order
  Pairs headers;               // names in lower case; every one is signed; host is among them
  std::string payload_sha256;  // 64 hexadecimal digits
};

// "list-type=2&prefix=runs%2F": encoded and sorted, which is also how it is to be sent.
std::string query_text(const Pairs& query);

// `time`: "20130524T000000Z". `service`: "s3".
std::string canonical_request(const ToSign& request);
std::string string_to_sign(const ToSign& request, std::string_view time, std::string_view region,
                           std::string_view service);
// "AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…"
std::string authorization(const ToSign& request, const Keys& keys, std::string_view time,
                          std::string_view region, std::string_view service = "s3");

// "20130524T000000Z" of wall time.
std::string signing_time(std::int64_t wall_ms);

}  // namespace trainward::upload::s3
