// Sending the parts of a large file: the digest of the next one is taken while one is under way,
// and each that has arrived is on record before the next is sent.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "common/os/fault_point.hpp"
#include "supervisor/upload/file_digest.hpp"
#include "supervisor/upload/s3/s3_store.hpp"
#include "supervisor/upload/s3/xml.hpp"

namespace trainward::upload::s3 {
namespace {

using Clock = std::chrono::steady_clock;

struct Slice {
  std::size_t part = 0;  // from 0
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

Slice slice_of(std::size_t part, std::int64_t part_bytes, std::int64_t file_bytes) {
  const std::int64_t offset = static_cast<std::int64_t>(part) * part_bytes;
  return {part, offset, std::min(part_bytes, file_bytes - offset)};
}

std::future<Result<std::string>> take_digest(const File& file, const Slice& slice,
                                             const std::stop_token& stop) {
  return std::async(std::launch::async, [&file, slice, stop] {
    return file_digest(file.descriptor.get(), slice.size, file.name, slice.offset, stop);
  });
}

bool is_lost(const Reply& reply) {
  return reply.answer.status == 404 && (reply.code == "NoSuchUpload" || reply.code.empty());
}

}  // namespace

Result<S3Store::Outcome> S3Store::send_parts(const std::string& key, const File& file,
                                             Upload& upload, const Progress& progress) {
  std::vector<Slice> missing;
  std::int64_t done = 0;
  for (std::size_t part = 0; part < upload.etags.size(); ++part) {
    const Slice slice = slice_of(part, upload.part_bytes, file.size);
    if (upload.etags[part].empty()) {
      missing.push_back(slice);
    } else {
      done += slice.size;
    }
  }
  if (progress) progress(done);
  std::future<Result<std::string>> next;
  if (!missing.empty()) next = take_digest(file, missing.front(), options_.stop);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const Slice& slice = missing[i];
    auto digest = next.get();
    if (!digest) return propagate(digest);
    if (i + 1 < missing.size()) next = take_digest(file, missing[i + 1], options_.stop);
    Call call;
    call.method = "PUT";
    call.key = key;
    call.query = {{"partNumber", std::to_string(slice.part + 1)}, {"uploadId", upload.id}};
    call.body = net::FileSlice{file.descriptor.get(), slice.offset, slice.size};
    call.payload_sha256 = *digest;
    const auto began = Clock::now();
    auto reply = client_.send(call, [&](std::int64_t bytes) {
      if (progress) progress(done + bytes);
    });
    if (!reply) return propagate(reply);
    if (is_lost(*reply)) return Outcome::lost;
    if (!reply->ok()) {
      return tl::unexpected(
          client_.refused(*reply, fmt::format("send part {} of {}", slice.part + 1, file.name)));
    }
    const std::string etag(reply->answer.header("etag"));
    if (etag.empty()) {
      return fail(ErrorKind::transient, "the server took a part and gave no ETag", shown(key));
    }
    fault_point("upload.part_sent");
    if (auto ok = memory_.put(fmt::format("{}#{}", "multipart/" + key, slice.part + 1), etag);
        !ok) {
      return propagate(ok);
    }
    fault_point("upload.part_noted");
    upload.etags[slice.part] = etag;
    done += slice.size;
    const std::chrono::duration<double> took = Clock::now() - began;
    if (took.count() > 0) {
      const auto speed = static_cast<std::int64_t>(static_cast<double>(slice.size) / took.count());
      if (auto ok = memory_.put("speed", std::to_string(speed)); !ok) return propagate(ok);
    }
  }
  return Outcome::done;
}

// A completion whose answer was lost has happened or not: the object tells.
Result<S3Store::Outcome> S3Store::complete(const std::string& key, const File& file,
                                           const Upload& upload) {
  Call call;
  call.method = "POST";
  call.key = key;
  call.query = {{"uploadId", upload.id}};
  call.body = complete_text(upload.etags);
  auto reply = client_.send(call);
  if (!reply) return propagate(reply);
  fault_point("upload.completed");
  const bool refused = reply->code == "InvalidPart" || reply->code == "InvalidPartOrder";
  if (!reply->ok() && !is_lost(*reply) && !refused) {
    return tl::unexpected(client_.refused(*reply, "finish " + file.name));
  }
  if (refused) {
    if (auto ok = abandon(key); !ok) return propagate(ok);
    return Outcome::lost;
  }
  auto arrived = size(key);
  if (!arrived) return propagate(arrived);
  return *arrived == file.size ? Outcome::done : Outcome::lost;
}

}  // namespace trainward::upload::s3
