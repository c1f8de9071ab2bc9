#include "fake_s3.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"

namespace trainward::test {
namespace {

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out +=
          static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> query_of(std::string_view target) {
  std::map<std::string, std::string> out;
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return out;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = pair.find('=');
    out[decoded(pair.substr(0, equals))] =
        equals == std::string_view::npos ? "" : decoded(pair.substr(equals + 1));
  }
  return out;
}

std::string etag_of(const std::string& bytes) {
  return "\"" + sha256_hex(bytes).substr(0, 32) + "\"";
}

}  // namespace

FakeS3::FakeS3(std::function<Fault(std::size_t, const HttpRequest&)> fault)
    : fault_(std::move(fault)),
      server_([this](const HttpRequest& request) { return handle(request); }) {}

std::map<std::string, std::string> FakeS3::objects() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

std::size_t FakeS3::open_uploads() const {
  const std::lock_guard lock(mutex_);
  return uploads_.size();
}

int FakeS3::times_made(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = made_.find(key);
  return found == made_.end() ? 0 : found->second;
}

void FakeS3::change(const std::string& key, const std::string& text) {
  const std::lock_guard lock(mutex_);
  objects_[key] = text;
}

HttpStep FakeS3::refusal(int status, std::string_view code) {
  return {.status = status,
          .body = fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>words"
                              "</Message></Error>",
                              code)};
}

HttpStep FakeS3::handle(const HttpRequest& request) {
  const std::lock_guard lock(mutex_);
  const Fault fault = fault_ ? fault_(number_, request) : Fault::none;
  ++number_;
  switch (fault) {
    case Fault::none: {
      HttpStep step = act(request);
      if (alter_) alter_(request, step);
      if (gate_ && request.target.find(held_) != std::string::npos) step.hold = gate_;
      return step;
    }
    case Fault::refuse_500:
      return refusal(500, "InternalError");
    case Fault::slow_down_503: {
      HttpStep step = refusal(503, "SlowDown");
      step.headers = {{"Retry-After", "7"}};
      return step;
    }
    case Fault::drop_before:
      return {.drop = true};
    case Fault::lose_answer:
      (void)act(request);
      return {.drop = true};
    case Fault::no_such_upload:
      uploads_.clear();
      return act(request);
    case Fault::skewed: {
      HttpStep step = refusal(403, "RequestTimeTooSkewed");
      step.headers = {{"Date", "Tue, 24 Nov 2054 00:13:15 GMT"}};
      return step;
    }
    case Fault::damaged:
      if (request.body.empty()) return act(request);
      return refusal(400, "XAmzContentSHA256Mismatch");
    case Fault::cut_answer: {
      HttpStep step = act(request);
      if (step.body.empty()) return {.drop = true};
      step.cut_after = step.body.size() / 2;
      return step;
    }
  }
  return {.drop = true};
}

HttpStep FakeS3::act(const HttpRequest& request) {
  const std::string path = decoded(request.path());
  const auto query = query_of(request.target);
  if (path == "/bucket" && query.contains("uploads")) return list_uploads(query);
  if (path == "/bucket") return list(query);
  if (!path.starts_with("/bucket/")) return refusal(404, "NoSuchBucket");
  if (!request.body.empty() && request.header("x-amz-content-sha256") != sha256_hex(request.body)) {
    return refusal(400, "XAmzContentSHA256Mismatch");
  }
  const std::string key = path.substr(8);
  const bool of_upload = query.contains("uploadId");
  const std::string id = of_upload ? query.at("uploadId") : "";
  if (request.method == "POST" && query.contains("uploads")) {
    const std::string made = fmt::format("upload+{}/=", ++next_upload_);
    uploads_[made] = {key, {}};
    return {.body = "<?xml version=\"1.0\"?><InitiateMultipartUploadResult><UploadId>" + made +
                    "</UploadId></InitiateMultipartUploadResult>"};
  }
  if (of_upload && (!uploads_.contains(id) || uploads_.at(id).key != key)) {
    return refusal(404, "NoSuchUpload");
  }
  if (request.method == "PUT" && of_upload) {
    uploads_[id].parts[std::atoi(query.at("partNumber").c_str())] = request.body;
    return {.headers = {{"ETag", etag_of(request.body)}}};
  }
  if (request.method == "POST" && of_upload) return complete(key, id, request.body);
  if (request.method == "DELETE") {
    if (of_upload) {
      uploads_.erase(id);
    } else {
      objects_.erase(key);
    }
    return {.status = 204};
  }
  if (request.method == "PUT") return put(key, request);
  return get(key, request);
}

HttpStep FakeS3::put(const std::string& key, const HttpRequest& request) {
  const bool only_new = request.has("if-none-match");
  const bool only_same = request.has("if-match");
  if (refuses_conditions_ && (only_new || only_same)) return refusal(501, "NotImplemented");
  if (only_new && objects_.contains(key)) return refusal(412, "PreconditionFailed");
  if (only_same) {
    std::string there = objects_.contains(key) ? etag_of(objects_.at(key)) : "";
    if (compares_without_quotes_) std::erase(there, '"');
    if (there != request.header("if-match")) return refusal(412, "PreconditionFailed");
  }
  objects_[key] = request.body;
  ++made_[key];
  return {.headers = {{"ETag", etag_of(request.body)}}};
}

HttpStep FakeS3::get(const std::string& key, const HttpRequest& request) const {
  if (!objects_.contains(key)) return refusal(404, "NoSuchKey");
  if (request.method == "GET" && !redirect_.empty()) {
    return redirect_to(redirect_ + key.substr(key.rfind('/')));
  }
  std::string bytes = objects_.at(key);
  HttpStep step{.headers = {{"ETag", etag_of(bytes)}}};
  if (request.has("range") && !ignores_ranges_) {
    const auto from = static_cast<std::size_t>(
        std::atoll(std::string(request.header("range")).substr(6).c_str()));
    bytes = bytes.substr(std::min(from, bytes.size()));
    step.status = 206;
  }
  step.body = std::move(bytes);
  return step;
}

// Two keys a portion, so that more than one is asked for.
HttpStep FakeS3::list(const std::map<std::string, std::string>& query) const {
  const std::string prefix = query.contains("prefix") ? query.at("prefix") : "";
  const std::string after =
      query.contains("continuation-token") ? query.at("continuation-token") : "";
  std::string body = "<?xml version=\"1.0\"?><ListBucketResult>";
  int count = 0;
  std::string last;
  bool more = false;
  for (const auto& [key, bytes] : objects_) {
    if (!key.starts_with(prefix) || (!after.empty() && key <= after)) continue;
    if (count == 2) {
      more = true;
      break;
    }
    body += fmt::format("<Contents><Key>{}</Key><Size>{}</Size></Contents>", key, bytes.size());
    last = key;
    ++count;
  }
  body += fmt::format("<IsTruncated>{}</IsTruncated>", more);
  if (more) body += "<NextContinuationToken>" + last + "</NextContinuationToken>";
  return {.body = body + "</ListBucketResult>"};
}

HttpStep FakeS3::list_uploads(const std::map<std::string, std::string>& query) const {
  std::string body = "<?xml version=\"1.0\"?><ListMultipartUploadsResult>";
  for (const auto& [id, upload] : uploads_) {
    if (!upload.key.starts_with(query.at("prefix"))) continue;
    body += "<Upload><Key>" + upload.key + "</Key><UploadId>" + id + "</UploadId></Upload>";
  }
  return {.body = body + "</ListMultipartUploadsResult>"};
}

HttpStep FakeS3::complete(const std::string& key, const std::string& id, const std::string& body) {
  const Upload& upload = uploads_.at(id);
  static const std::regex part("<PartNumber>([0-9]+)</PartNumber><ETag>([^<]*)</ETag>");
  std::string whole;
  int number = 0;
  for (std::sregex_iterator at(body.begin(), body.end(), part), end; at != end; ++at) {
    std::string etag = (*at)[2];
    for (auto quote = etag.find("&quot;"); quote != std::string::npos;
         quote = etag.find("&quot;")) {
      etag.replace(quote, 6, "\"");
    }
    const auto found = upload.parts.find(std::stoi((*at)[1]));
    if (found == upload.parts.end() || found->first != ++number || etag_of(found->second) != etag) {
      return refusal(400, "InvalidPart");
    }
    whole += found->second;
  }
  if (number == 0) return refusal(400, "MalformedXML");
  objects_[key] = whole;
  ++made_[key];
  uploads_.erase(id);
  return {.body = "<?xml version=\"1.0\"?><CompleteMultipartUploadResult><Key>" + key +
                  "</Key></CompleteMultipartUploadResult>"};
}

std::string FakeS3::recorded() const {
  std::string out;
  for (const HttpRequest& request : server_.requests()) {
    if (!request.whole) continue;
    json::object headers;
    for (const auto& [name, value] : request.headers) headers[name] = value;
    out += json::serialize(json::object{{"method", request.method},
                                        {"target", request.target},
                                        {"headers", std::move(headers)},
                                        {"sha256", sha256_hex(request.body)}}) +
           "\n";
  }
  return out;
}

}  // namespace trainward::test
