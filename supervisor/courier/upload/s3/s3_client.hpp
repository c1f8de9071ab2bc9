// Signed requests to one bucket.
//
// Keys are read for every request, so that a changed file counts. A clock that is off is noticed by
// the server's Date header, said once, and made up for. As many threads may send at once as there
// are connections; all else is of one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "common/base/error.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/courier/upload/s3/s3_signature.hpp"
#include "supervisor/courier/upload/target/target_options.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::upload::s3 {

struct Call {
  std::string method = "GET";
  std::string key;  // below the bucket, without the prefix; empty: the bucket itself
  Pairs query = {};
  Pairs headers = {};  // names in lower case; not signed
  std::variant<std::monostate, std::string, net::FileSlice> body = {};
  std::string payload_sha256 = {};  // of a slice; of other bodies it is taken here
  std::int64_t most_answer_bytes = 64 * 1024;
  std::optional<int> into = {};
  std::int64_t into_offset = 0;
};

struct Reply {
  net::Answer answer;
  std::string code;                          // of an error: "NoSuchUpload"; empty: it did not say
  std::optional<std::int64_t> wait_ms = {};  // that the server asked for
  [[nodiscard]] bool ok() const { return answer.status >= 200 && answer.status < 300; }
  // The bytes that arrived have not the digest that was announced.
  [[nodiscard]] bool bytes_differ() const {
    return code == "BadDigest" || code == "XAmzContentSHA256Mismatch";
  }
};

class S3Client {
 public:
  S3Client(orders::S3Place place, TargetOptions options)
      : place_(std::move(place)),
        options_(std::move(options)),
        http_{net::HttpClient(options_.network, options_.stop),
              net::HttpClient(options_.network, options_.stop)} {}

  static constexpr std::size_t connections = 2;

  // Any status is a reply. Errors: those of the network, and of keys that cannot be read.
  Result<Reply> send(const Call& call, const net::HttpClient::Progress& progress = {},
                     std::size_t connection = 0);

  // What a reply that is not ok means, and what to do. `what`: "send a file".
  Error refused(const Reply& reply, const std::string& what);

  // "https://s3.example/bucket/prefix/key"
  [[nodiscard]] std::string shown(const std::string& key) const;
  // How long the server asked to wait, in the reply that was refused last; nothing: it did not.
  [[nodiscard]] std::optional<std::int64_t> wait_ms() const { return wait_ms_; }
  [[nodiscard]] std::string full_key(const std::string& key) const;

 private:
  Result<Reply> send_once(const Call& call, const net::HttpClient::Progress& progress,
                          std::size_t connection);
  net::Request make_request(const Call& call, const Keys& keys) const;
  bool correct_clock(const Reply& reply);

  orders::S3Place place_;
  TargetOptions options_;
  std::array<net::HttpClient, connections> http_;
  std::atomic<std::int64_t> clock_offset_ms_ = 0;  // what the server's clock is ahead
  std::optional<std::int64_t> wait_ms_;
};

}  // namespace trainward::upload::s3
