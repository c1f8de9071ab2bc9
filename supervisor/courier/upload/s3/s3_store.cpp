#include "supervisor/courier/upload/s3/s3_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "common/base/json/json.hpp"
#include "common/base/number_in.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "supervisor/courier/upload/s3/xml.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::upload::s3 {
namespace {

constexpr std::int64_t most_parts = 10'000;
constexpr std::size_t most_keys = 100'000;
constexpr std::size_t listing_bytes = 4U << 20U;
constexpr int most_pages = 1'000;  // of a thousand keys, usually

// The folder of a checkpoint that a key is in: "PROGRAM/NAME/".
std::string package_of(const std::string& key) {
  const auto first = key.find('/');
  const auto second = key.find('/', first == std::string::npos ? first : first + 1);
  return second == std::string::npos ? key : key.substr(0, second + 1);
}

// That an upload is being begun: should its answer be lost, nobody knows which.
std::string beginning(const std::string& key) { return "beginning/" + package_of(key); }

std::string upload_memory(const std::string& key) { return "multipart/" + key; }

bool is_gone(const Reply& reply) { return reply.answer.status == 404; }

// Which bytes an upload is of: by their digest, or where that is still being taken, by the file.
Status tell_bytes(json::object& record, const File& file) {
  if (!file.sha256.empty()) {
    record["sha256"] = file.sha256;
    return {};
  }
  auto identity = identity_of(file);
  if (!identity) return propagate(identity);
  record["file"] = *identity;
  return {};
}

Result<bool> is_of(const json::object& record, const File& file) {
  const auto digest = string_or(record, "sha256", "");
  auto own = digest.empty() ? identity_of(file) : digest_of(file);
  if (!own) return propagate(own);
  return *own == (digest.empty() ? string_or(record, "file", "") : digest);
}

}  // namespace

std::int64_t part_bytes(std::int64_t size, std::int64_t usual) {
  constexpr std::int64_t mib = 1 << 20;
  const std::int64_t by_count = ((size + most_parts - 1) / most_parts + mib - 1) / mib * mib;
  return std::max(usual, by_count);
}

Status S3Store::check() {
  Call call;
  call.query = {{"list-type", "2"}, {"max-keys", "1"}, {"prefix", client_.full_key("")}};
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  if (reply->ok()) return {};
  return tl::unexpected(client_.refused(*reply, "look into the bucket"));
}

Status S3Store::put_file(const std::string& key, const File& file, const Progress& progress) {
  // What was begun in parts goes on in parts.
  auto begun = memory_.get(upload_memory(key));
  if (!begun) return propagate(begun);
  if (!*begun && part_bytes(file.size) == 0) {
    return put_whole(key, file, progress);
  }
  constexpr int most_beginnings = 3;
  for (int beginning = 0; beginning < most_beginnings; ++beginning) {
    auto upload = find_upload(key, file);
    if (!upload) return propagate(upload);
    auto outcome = send_parts(key, file, *upload, progress);
    if (outcome && *outcome == Outcome::done) {
      fault_point("upload.parts_sent");
      outcome = complete(key, file, *upload);
    }
    if (!outcome) return propagate(outcome);
    if (*outcome == Outcome::done) return {};
    if (auto ok = forget_upload(key); !ok) return ok;
  }
  return fail(ErrorKind::transient, "the server loses what has arrived of a file", shown(key));
}

Status S3Store::put_whole(const std::string& key, const File& file, const Progress& progress) {
  if (auto ok = sweep(key); !ok) return ok;
  Call call;
  call.method = "PUT";
  call.key = key;
  if (file.size > 0) {
    call.body = net::FileSlice{file.descriptor.get(), 0, file.size};
    call.payload_sha256 = file.sha256;
  } else {
    call.body = std::string();
  }
  auto reply = client_.send(call, progress);
  if (!reply) return propagate(reply);
  if (reply->ok()) return {};
  return tl::unexpected(
      refused_slice(*reply, file, {0, 0, file.size, file.sha256}, "send " + file.name));
}

// The one that is on record for these bytes, with the parts that have arrived; else a new one.
Result<S3Store::Upload> S3Store::find_upload(const std::string& key, const File& file) {
  auto known = memory_.get(upload_memory(key));
  if (!known) return propagate(known);
  if (!*known) return begin_upload(key, file);
  auto value = parse_json(**known, "courier.db");
  const json::object* object = value ? value->if_object() : nullptr;
  Upload upload;
  auto same = object != nullptr ? is_of(*object, file) : Result<bool>(false);
  if (!same) return propagate(same);
  if (*same) {
    upload.id = string_or(*object, "id", "");
    upload.part_bytes = int_or(*object, "part_bytes", 0);
  }
  if (upload.id.empty() || upload.part_bytes <= 0) {
    if (auto ok = abandon(package_of(key)); !ok) return propagate(ok);
    return begin_upload(key, file);
  }
  const std::int64_t parts = (file.size + upload.part_bytes - 1) / upload.part_bytes;
  upload.etags.resize(static_cast<std::size_t>(parts));
  for (std::int64_t part = 0; part < parts; ++part) {
    auto etag = memory_.get(fmt::format("{}#{}", upload_memory(key), part + 1));
    if (!etag) return propagate(etag);
    if (*etag) upload.etags[static_cast<std::size_t>(part)] = **etag;
  }
  return upload;
}

Result<S3Store::Upload> S3Store::begin_upload(const std::string& key, const File& file) {
  if (auto ok = memory_.forget(upload_memory(key)); !ok) return propagate(ok);
  // Whether the upload has been finished is told by the object, so none may lie there before.
  if (auto ok = remove(key); !ok) return propagate(ok);
  if (auto ok = sweep(key); !ok) return propagate(ok);
  if (auto ok = memory_.put(beginning(key), key); !ok) return propagate(ok);
  Call call;
  call.method = "POST";
  call.key = key;
  call.query = {{"uploads", ""}};
  call.body = std::string();
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  if (!reply->ok()) return tl::unexpected(client_.refused(*reply, "begin to send " + file.name));
  Upload upload;
  upload.id = read_upload_id(reply->answer.body);
  upload.part_bytes = s3::part_bytes(file.size, usual_part_);
  if (upload.id.empty()) {
    return fail(ErrorKind::transient, "the server began an upload and did not say which",
                shown(key));
  }
  fault_point("upload.multipart_begun");
  json::object record{{"id", upload.id}, {"part_bytes", upload.part_bytes}};
  if (auto ok = tell_bytes(record, file); !ok) return propagate(ok);
  if (auto ok = memory_.put(upload_memory(key), json::serialize(record)); !ok) return propagate(ok);
  // Which upload to abort once its checkpoint is no longer wanted.
  const json::object open{{"key", key}, {"id", upload.id}};
  if (auto ok = memory_.put("open/" + package_of(key), json::serialize(open)); !ok) {
    return propagate(ok);
  }
  if (auto ok = memory_.forget(beginning(key)); !ok) return propagate(ok);
  upload.etags.resize(
      static_cast<std::size_t>((file.size + upload.part_bytes - 1) / upload.part_bytes));
  return upload;
}

// An upload of which the answer was lost is found by the server's own list. One that has no such
// list forgets it by itself, sooner or later.
Status S3Store::sweep(const std::string& key) {
  auto begun = memory_.get(beginning(key));
  if (!begun) return propagate(begun);
  if (!*begun) return {};
  Call call;
  call.query = {{"uploads", ""}, {"prefix", client_.full_key(**begun)}};
  call.most_answer_bytes = listing_bytes;
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  if (reply->ok()) {
    for (const OpenUpload& open : read_open_uploads(reply->answer.body)) {
      if (open.key != client_.full_key(**begun)) continue;
      if (auto ok = abort(**begun, open.id); !ok) return ok;
    }
  } else if (client_.refused(*reply, "").kind == ErrorKind::transient &&
             reply->answer.status != 501) {
    return tl::unexpected(client_.refused(*reply, "look for uploads that were begun"));
  }
  return memory_.forget(beginning(key));
}

Status S3Store::abort(const std::string& key, const std::string& id) {
  Call call;
  call.method = "DELETE";
  call.key = key;
  call.query = {{"uploadId", id}};
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  if (reply->ok() || is_gone(*reply)) return {};
  return tl::unexpected(client_.refused(*reply, "take back what has arrived of a file"));
}

Status S3Store::forget_upload(const std::string& key) {
  if (auto ok = memory_.forget(upload_memory(key)); !ok) return ok;
  return memory_.forget("open/" + package_of(key));
}

// An upload that nobody finishes is paid for until somebody aborts it.
Status S3Store::abandon(const std::string& prefix) {
  if (auto ok = sweep(prefix); !ok) return ok;
  const std::string open_key = "open/" + package_of(prefix);
  auto open = memory_.get(open_key);
  if (!open) return propagate(open);
  if (!*open) return {};
  auto value = parse_json(**open, "courier.db");
  if (const json::object* object = value ? value->if_object() : nullptr; object != nullptr) {
    const std::string key = string_or(*object, "key", "");
    if (auto ok = abort(key, string_or(*object, "id", "")); !ok) return ok;
    if (auto ok = memory_.forget(upload_memory(key)); !ok) return ok;
  }
  return memory_.forget(open_key);
}

Result<std::optional<ObjectStore::Text>> S3Store::get_text(const std::string& key,
                                                           std::size_t most_bytes) {
  Call call;
  call.key = key;
  call.most_answer_bytes = static_cast<std::int64_t>(most_bytes);
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  if (is_gone(*reply) && reply->code != "NoSuchBucket") return std::optional<Text>();
  if (!reply->ok()) return tl::unexpected(client_.refused(*reply, "read " + key));
  return std::optional(
      Text{std::move(reply->answer.body), std::string(reply->answer.header("etag"))});
}

Result<bool> S3Store::try_put_text(const std::string& key, const std::string& text,
                                   const Pairs& condition, bool& not_supported) {
  Call call;
  call.method = "PUT";
  call.key = key;
  call.headers = condition;
  call.headers.emplace_back("content-type", "application/json");
  call.body = text;
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  const int status = reply->answer.status;
  if (reply->ok()) return true;
  if (status == 412 || (status == 409 && reply->code == "ConditionalRequestConflict")) return false;
  // If-Match on something that was removed meanwhile.
  if (status == 404 && reply->code == "NoSuchKey") return false;
  const bool unknown = reply->code == "NotImplemented" || reply->code == "InvalidArgument" ||
                       reply->code == "InvalidRequest";
  not_supported = !condition.empty() && (status == 501 || (status == 400 && unknown));
  return tl::unexpected(client_.refused(*reply, "write " + key));
}

Result<bool> S3Store::put_text(const std::string& key, const std::string& text,
                               const std::optional<Text>& replaces) {
  Pairs condition;
  if (!replaces) {
    condition = {{"if-none-match", "*"}};
  } else if (!replaces->version.empty()) {
    condition = {{"if-match", replaces->version}};
  }
  bool not_supported = false;
  auto put = try_put_text(key, text, condition, not_supported);
  // Ceph 16 compares with the ETag without its quotes: it refuses though nothing has changed.
  if (put && !*put && replaces) {
    auto there = look_at(key);
    if (!there) return propagate(there);
    not_supported = *there && (*there)->answer.header("etag") == replaces->version;
  }
  if (not_supported) return try_put_text(key, text, {}, not_supported);
  return put;
}

Result<std::vector<std::string>> S3Store::list(const std::string& prefix) {
  std::vector<std::string> out;
  const std::string whole = client_.full_key(prefix);
  const std::size_t ours = whole.size() - prefix.size();
  std::string token;
  int pages = 0;
  do {
    if (++pages > most_pages) {
      return fail(ErrorKind::permanent, "lists its objects without end", shown(prefix),
                  "this is no server that a checkpoint can be sought in; name another endpoint");
    }
    Call call;
    call.query = {{"list-type", "2"}, {"prefix", whole}};
    if (!token.empty()) call.query.emplace_back("continuation-token", token);
    call.most_answer_bytes = listing_bytes;
    auto reply = client_.send(call);
    if (!reply) return propagate(reply);
    if (!reply->ok()) return tl::unexpected(client_.refused(*reply, "list the bucket"));
    auto listing = read_listing(reply->answer.body);
    if (!listing) {
      return fail(ErrorKind::corrupt, "answered a listing that cannot be read", shown(prefix));
    }
    for (const std::string& key : listing->keys) {
      if (key.starts_with(whole)) out.push_back(key.substr(ours));
    }
    if (listing->next == token) break;
    token = listing->next;
  } while (!token.empty() && out.size() < most_keys);
  std::sort(out.begin(), out.end());
  return out;
}

// Nothing: nothing is there.
Result<std::optional<Reply>> S3Store::look_at(const std::string& key) {
  Call call;
  call.method = "HEAD";
  call.key = key;
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  if (is_gone(*reply)) return std::optional<Reply>();
  if (!reply->ok()) return tl::unexpected(client_.refused(*reply, "look at " + key));
  return std::optional(std::move(*reply));
}

Result<std::optional<std::int64_t>> S3Store::size(const std::string& key) {
  auto reply = look_at(key);
  if (!reply) return propagate(reply);
  if (!*reply) return std::optional<std::int64_t>();
  const auto size = number_in<std::int64_t>((*reply)->answer.header("content-length"));
  if (!size) return fail(ErrorKind::corrupt, "has no size, by the server's answer", shown(key));
  return size;
}

Status S3Store::remove(const std::string& key) {
  Call call;
  call.method = "DELETE";
  call.key = key;
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  if (reply->ok() || is_gone(*reply)) return {};
  return tl::unexpected(client_.refused(*reply, "remove " + key));
}

Status S3Store::fetch(const std::string& key, std::int64_t size, int descriptor,
                      const Progress& progress) {
  constexpr int most_tries_without_progress = 5;
  std::int64_t done = 0;
  for (int tries = 0; done < size;) {
    if (options_.stop.stop_requested()) return fail(ErrorKind::transient, "stopped", shown(key));
    Call call;
    call.key = key;
    call.into = descriptor;
    call.into_offset = done;
    call.most_answer_bytes = size - done;
    if (done > 0) call.headers = {{"range", fmt::format("bytes={}-", done)}};
    std::int64_t received = 0;
    auto reply = client_.send(call, [&](std::int64_t bytes) {
      received = bytes;
      if (progress) progress(done + bytes);
    });
    if (reply && !reply->ok()) {
      return tl::unexpected(client_.refused(*reply, "fetch " + key));
    }
    // It sends all of it again, which is more than is missing, and to the wrong place.
    const bool too_much = !reply && done > 0 && reply.error().kind == ErrorKind::corrupt;
    if (!reply && !too_much && reply.error().kind != ErrorKind::transient) return propagate(reply);
    if (too_much || (reply && done > 0 && reply->answer.status != 206)) {
      done = 0;
      if (++tries >= most_tries_without_progress) {
        return fail(ErrorKind::transient, "does not send parts of a file", shown(key));
      }
      continue;
    }
    tries = received > 0 ? 0 : tries + 1;
    done += received;
    if (reply && done < size) {
      return fail(ErrorKind::corrupt, fmt::format("has {} bytes instead of {}", done, size),
                  shown(key));
    }
    if (!reply && tries >= most_tries_without_progress) return propagate(reply);
  }
  return {};
}

}  // namespace trainward::upload::s3
