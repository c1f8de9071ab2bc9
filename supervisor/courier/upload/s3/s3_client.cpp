#include "supervisor/courier/upload/s3/s3_client.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <ctime>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/percent.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "supervisor/courier/net/http_retry.hpp"
#include "supervisor/courier/upload/s3/s3_credentials.hpp"
#include "supervisor/courier/upload/s3/xml.hpp"

namespace trainward::upload::s3 {
namespace {

constexpr int most_redirects = 3;

struct Address {
  std::string host;  // as it stands in the header Host
  std::string path;  // encoded; empty or "/…"
};

Address address_of(const std::string& endpoint) {
  const auto scheme = endpoint.find("://");
  const std::string rest = endpoint.substr(scheme + 3);
  const auto slash = rest.find('/');
  Address out{rest.substr(0, slash), slash == std::string::npos ? "" : rest.substr(slash)};
  out.path = percent_encoded(out.path, "/");
  // curl leaves the usual port out.
  const std::string usual = endpoint.starts_with("https") ? ":443" : ":80";
  if (out.host.ends_with(usual)) out.host.resize(out.host.size() - usual.size());
  return out;
}

// "Tue, 24 Nov 2026 00:13:15 GMT"
std::optional<std::int64_t> date_ms(std::string_view text) {
  std::tm at{};
  if (::strptime(std::string(text).c_str(), "%a, %d %b %Y %H:%M:%S GMT", &at) == nullptr) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(::timegm(&at)) * 1000;
}

bool is_about_the_clock(const Reply& reply) {
  return reply.code == "RequestTimeTooSkewed" || reply.code == "RequestExpired";
}

std::string hint_for(const Reply& reply) {
  const std::string& code = reply.code;
  if (code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch") {
    return "compare both keys in s3.credentials_file with those of the server";
  }
  if (code == "ExpiredToken" || code == "InvalidToken") {
    return "the session token is no longer valid: write new keys into s3.credentials_file";
  }
  if (code == "NoSuchBucket") return "make the bucket, or mend s3.bucket";
  if (code == "AccessDenied" || reply.answer.status == 403) {
    return "the keys must be allowed s3:PutObject, s3:GetObject, s3:DeleteObject, s3:ListBucket "
           "and "
           "s3:AbortMultipartUpload there";
  }
  if (is_about_the_clock(reply)) return "set the clock of this box, or look at the server's";
  return {};
}

}  // namespace

std::string S3Client::full_key(const std::string& key) const {
  return place_.prefix.empty() ? key : place_.prefix + "/" + key;
}

std::string S3Client::shown(const std::string& key) const {
  return clean(fmt::format("{}/{}/{}", place_.endpoint, place_.bucket, full_key(key)));
}

net::Request S3Client::make_request(const Call& call, const Keys& keys) const {
  const Address address = address_of(place_.endpoint);
  ToSign to_sign;
  to_sign.method = call.method;
  to_sign.path = address.path + "/" + percent_encoded(place_.bucket);
  if (!call.key.empty()) to_sign.path += "/" + percent_encoded(full_key(call.key), "/");
  to_sign.query = call.query;
  const auto* text = std::get_if<std::string>(&call.body);
  to_sign.payload_sha256 = std::holds_alternative<net::FileSlice>(call.body)
                               ? call.payload_sha256
                               : sha256_hex(text == nullptr ? std::string_view() : *text);
  const std::string time = signing_time(now().wall.ms + clock_offset_ms_);
  to_sign.headers = {{"host", address.host},
                     {"x-amz-content-sha256", to_sign.payload_sha256},
                     {"x-amz-date", time}};
  if (!keys.session.empty()) to_sign.headers.emplace_back("x-amz-security-token", keys.session);

  net::Request request;
  request.method = call.method;
  const std::string query = query_text(call.query);
  const auto host_end = place_.endpoint.find('/', place_.endpoint.find("://") + 3);
  request.url = place_.endpoint.substr(0, host_end) + to_sign.path;
  if (!query.empty()) request.url += "?" + query;
  for (const auto& [name, value] : to_sign.headers) {
    if (name != "host") request.headers.push_back({name, value});
  }
  for (const auto& [name, value] : call.headers) request.headers.push_back({name, value});
  request.headers.push_back(
      {"Authorization", authorization(to_sign, keys, time, place_.region, "s3")});
  request.body = call.body;
  request.most_answer_bytes = call.most_answer_bytes;
  request.into = call.into;
  request.into_offset = call.into_offset;
  const bool of_files = std::holds_alternative<net::FileSlice>(call.body) || call.into.has_value();
  if (of_files) {
    request.total_ms = 0;
    request.most_bytes_per_second = options_.bytes_per_second;
  } else {
    // Completing an upload of many parts may take a server minutes.
    request.total_ms = 300'000;
  }
  // The Hugging Face gateway has objects read elsewhere. Nothing else is asked for there, and what
  // is sent goes nowhere else.
  if (call.method == "GET" && !call.key.empty()) request.most_redirects = most_redirects;
  // What a server says of an object that it has taken does not matter.
  request.cut_answer = call.method == "PUT";
  return request;
}

Result<Reply> S3Client::send_once(const Call& call, const net::HttpClient::Progress& progress,
                                  std::size_t connection) {
  auto keys = read_keys(place_.credentials_file);
  if (!keys) return propagate(keys);
  auto answer = http_[connection].send(make_request(call, *keys), progress);
  if (!answer) return propagate(answer);
  Reply reply{std::move(*answer), ""};
  if (!reply.ok()) {
    const Refusal refusal = read_refusal(reply.answer.body);
    reply.code = refusal.code;
    if (net::may_be_retried(reply.answer.status)) {
      reply.wait_ms = net::asked_to_wait_ms(reply.answer, now().wall.ms);
    }
  } else if (call.method == "POST") {
    // A server that has answered before it was done says so in the body.
    reply.code = read_refusal(reply.answer.body).code;
    if (!reply.code.empty()) reply.answer.status = 500;
  }
  return reply;
}

bool S3Client::correct_clock(const Reply& reply) {
  const auto theirs = date_ms(reply.answer.header("date"));
  if (!theirs) return false;
  const std::int64_t offset = *theirs - now().wall.ms;
  constexpr std::int64_t worth_it_ms = 240'000;  // servers allow five minutes at least
  if (std::abs(offset - clock_offset_ms_) < worth_it_ms) return false;
  clock_offset_ms_ = offset;
  spdlog::warn(
      "{}: the clock of this box is {} {} the server's; requests are signed by the server's clock",
      net::shown_host(place_.endpoint), human_duration(std::abs(offset)),
      offset > 0 ? "behind" : "ahead of");
  return true;
}

Result<Reply> S3Client::send(const Call& call, const net::HttpClient::Progress& progress,
                             std::size_t connection) {
  auto reply = send_once(call, progress, connection);
  // An answer to HEAD has no body that could say why.
  const bool unsaid = reply && reply->answer.status == 403 && reply->code.empty();
  if (reply && (unsaid || is_about_the_clock(*reply)) && correct_clock(*reply)) {
    return send_once(call, progress, connection);
  }
  return reply;
}

Error S3Client::refused(const Reply& reply, const std::string& what) {
  wait_ms_ = reply.wait_ms;
  const int status = reply.answer.status;
  Refusal said = read_refusal(reply.answer.body);
  Error error;
  error.where = net::shown_host(place_.endpoint);
  error.what = fmt::format("cannot {}: the server answered {}{}", what, status,
                           reply.code.empty() ? "" : " " + clean(reply.code));
  error.hint = hint_for(reply);
  // Bytes that changed on their way are sent again.
  const bool damaged =
      reply.bytes_differ() || reply.code == "IncompleteBody" || reply.code == "RequestTimeout";
  error.kind = net::may_be_retried(status) || damaged || is_about_the_clock(reply)
                   ? ErrorKind::transient
                   : ErrorKind::permanent;
  if (!said.region.empty() && said.region != place_.region) {
    error.hint =
        fmt::format("the bucket lies in region {}: write it into s3.region", clean(said.region));
  } else if (status >= 300 && status < 400) {
    error.hint = "the bucket has another address: mend s3.endpoint and s3.region";
  }
  return error;
}

}  // namespace trainward::upload::s3
