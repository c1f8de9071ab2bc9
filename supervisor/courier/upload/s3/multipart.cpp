// Sending the parts of a large file: two at a time, each over its own connection, so that the line
// is not idle while the server answers for one. Each that has arrived is on record at once, however
// long another one takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>

#include "common/os/fault_point.hpp"
#include "supervisor/courier/upload/s3/s3_store.hpp"
#include "supervisor/courier/upload/s3/xml.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::upload::s3 {
namespace {

constexpr std::chrono::milliseconds told_every(250);

bool is_lost(const Reply& reply) {
  return reply.answer.status == 404 && (reply.code == "NoSuchUpload" || reply.code.empty());
}

}  // namespace

struct S3Store::Lane {
  Slice slice = {};
  std::atomic<std::int64_t> sent = 0;
  std::optional<Result<Reply>> reply = {};
  std::atomic<bool> ended = false;  // then `reply` is there
  std::jthread thread = {};         // the last: its end waits for who uses the others
};

S3Store::Slice S3Store::slice_of(const File& file, const Upload& upload, std::size_t part) {
  const std::int64_t offset = static_cast<std::int64_t>(part) * upload.part_bytes;
  return {part, offset, std::min(upload.part_bytes, file.size - offset), {}};
}

Result<S3Store::Outcome> S3Store::send_parts(const std::string& key, const File& file,
                                             Upload& upload, const Progress& progress) {
  std::vector<Slice> missing;
  std::int64_t done = 0;
  for (std::size_t part = 0; part < upload.etags.size(); ++part) {
    Slice slice = slice_of(file, upload, part);
    if (upload.etags[part].empty()) {
      missing.push_back(std::move(slice));
    } else {
      done += slice.size;
    }
  }
  std::array<Lane, S3Client::connections> lanes;
  // A limit counts for each connection by itself: where there is one, a single connection sends.
  const std::size_t used = options_.bytes_per_second > 0 ? 1 : lanes.size();
  const auto tell = [&] {
    std::int64_t sent = done;
    for (const Lane& lane : lanes) sent += lane.sent;
    if (progress) progress(sent);
  };
  tell();
  Result<Outcome> outcome = Outcome::done;
  const auto goes_on = [&] { return outcome && *outcome == Outcome::done; };
  auto next = missing.begin();
  std::size_t under_way = 0;
  std::counting_semaphore<> arrived(0);
  const auto begin = [&](Lane& lane) {
    if (!goes_on() || next == missing.end()) return;
    lane.slice = std::move(*next++);
    const auto connection = static_cast<std::size_t>(&lane - lanes.data());
    ++under_way;
    lane.thread = std::jthread([&, connection] {
      lane.reply = send_part(key, file, upload, lane, connection);
      lane.ended = true;
      arrived.release();
    });
  };
  for (std::size_t i = 0; i < used; ++i) begin(lanes[i]);
  while (under_way > 0) {
    if (!arrived.try_acquire_for(told_every)) {
      tell();
      continue;
    }
    Lane& lane = *std::ranges::find_if(lanes, [](const Lane& one) { return one.ended.load(); });
    lane.thread.join();
    lane.ended = false;
    lane.sent = 0;
    --under_way;
    // After a failure what is under way may still arrive, and counts then.
    if (goes_on() || (*lane.reply && (*lane.reply)->ok())) {
      const auto noted = note_part(key, file, upload, lane.slice, std::move(*lane.reply));
      if (noted && *noted == Outcome::done) done += lane.slice.size;
      if (goes_on()) outcome = noted;
    }
    tell();
    begin(lane);
  }
  return outcome;
}

// By a thread of its own.
Result<Reply> S3Store::send_part(const std::string& key, const File& file, const Upload& upload,
                                 Lane& lane, std::size_t connection) {
  Slice& slice = lane.slice;
  auto digest = part_digest(file, upload.part_bytes, slice.part, options_.stop);
  if (!digest) return propagate(digest);
  slice.sha256 = std::move(*digest);
  Call call;
  call.method = "PUT";
  call.key = key;
  call.query = {{"partNumber", std::to_string(slice.part + 1)}, {"uploadId", upload.id}};
  call.body = net::FileSlice{file.descriptor.get(), slice.offset, slice.size};
  call.payload_sha256 = slice.sha256;
  return client_.send(
      call, [&lane](std::int64_t bytes) { lane.sent = bytes; }, connection);
}

Result<S3Store::Outcome> S3Store::note_part(const std::string& key, const File& file,
                                            Upload& upload, const Slice& slice,
                                            Result<Reply> reply) {
  if (!reply) return propagate(reply);
  if (is_lost(*reply)) return Outcome::lost;
  if (!reply->ok()) {
    const std::string what = fmt::format("send part {} of {}", slice.part + 1, file.name);
    return tl::unexpected(refused_slice(*reply, file, slice, what));
  }
  const std::string etag(reply->answer.header("etag"));
  if (etag.empty()) {
    return fail(ErrorKind::transient, "the server took a part and gave no ETag", shown(key));
  }
  fault_point("upload.part_sent");
  if (auto ok = memory_.put(fmt::format("multipart/{}#{}", key, slice.part + 1), etag); !ok) {
    return propagate(ok);
  }
  fault_point("upload.part_noted");
  upload.etags[slice.part] = etag;
  return Outcome::done;
}

// Bytes that changed on their way are sent again; those that are no longer what they were are not.
Error S3Store::refused_slice(const Reply& reply, const File& file, const Slice& slice,
                             const std::string& what) {
  if (reply.bytes_differ()) {
    const auto digest =
        file_digest(file.descriptor.get(), slice.size, file.name, slice.offset, options_.stop);
    if (digest && *digest != slice.sha256) {
      return {ErrorKind::corrupt, "was changed while it was sent", file.name,
              "a checkpoint is not written to once it is there"};
    }
  }
  return client_.refused(reply, what);
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
