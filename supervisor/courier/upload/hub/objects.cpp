#include "supervisor/courier/upload/hub/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "common/os/clock.hpp"
#include "supervisor/courier/net/http_retry.hpp"
#include "supervisor/courier/upload/hub/hub_refusal.hpp"
#include "supervisor/courier/upload/hub/sealed.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::size_t objects_at_once = 32;
// Addresses age while earlier files go up: so few bytes are asked for at once.
constexpr std::int64_t bytes_at_once = std::int64_t{2} << 30;
constexpr int most_addresses = 3;  // for one object, one after the other
// What is known of addresses that do not say it themselves.
constexpr std::int64_t usual_life_ms = 15 * 60 * 1000;
constexpr std::int64_t spare_ms = 30 * 1000;

std::vector<net::Header> lfs_headers(const std::vector<Transfer::Header>& also) {
  std::vector<net::Header> out{{"Accept", std::string(lfs_type)},
                               {"Content-Type", std::string(lfs_type)}};
  for (const auto& header : also) out.push_back({header.name, header.value});
  return out;
}

json::array headers_json(const std::vector<Transfer::Header>& headers) {
  json::array out;
  for (const auto& header : headers) out.push_back(json::array{header.name, header.value});
  return out;
}

std::vector<Transfer::Header> headers_in(const json::object& object, std::string_view key) {
  std::vector<Transfer::Header> out;
  const json::value* value = object.if_contains(key);
  const auto* list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr) return out;
  for (const json::value& item : *list) {
    const auto* pair = item.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string())
      continue;
    out.push_back(
        {std::string(view((*pair)[0].get_string())), std::string(view((*pair)[1].get_string()))});
  }
  return out;
}

}  // namespace

// An upload in parts that has begun.
struct ObjectSender::Multipart {
  Transfer transfer;
  std::int64_t good_until_ms = 0;
  std::string key;  // of its ETags in the memory: of this upload alone

  [[nodiscard]] json::object to_json() const {
    json::array parts;
    for (const std::string& part : transfer.parts) parts.emplace_back(part);
    return {{"upload", transfer.upload},
            {"headers", headers_json(transfer.headers)},
            {"part_size", transfer.part_size},
            {"parts", std::move(parts)},
            {"verify", transfer.verify},
            {"verify_headers", headers_json(transfer.verify_headers)},
            {"good_until_ms", good_until_ms}};
  }
};

void ObjectSender::tell(const File& file, std::int64_t bytes) {
  if (progress_) progress_(done_ + std::min(bytes, file.size));
}

Result<std::int64_t> ObjectSender::send(const std::vector<const File*>& files,
                                        const Progress& progress) {
  progress_ = progress;
  done_ = 0;
  sent_ = 0;
  std::vector<const File*> left = files;
  while (!left.empty()) {
    std::vector<const File*> some;
    std::int64_t bytes = 0;
    while (!left.empty() && some.size() < objects_at_once &&
           (some.empty() || bytes + left.front()->size <= bytes_at_once)) {
      bytes += left.front()->size;
      some.push_back(left.front());
      left.erase(left.begin());
    }
    for (int tries = 0; !some.empty(); ++tries) {
      if (tries == most_addresses) {
        return fail(ErrorKind::transient,
                    "the store behind the Hub refuses the addresses that the Hub gives",
                    api_.shown(), "is this machine's clock right?");
      }
      auto expired = send_some(some);
      if (!expired) return propagate(expired);
      some = std::move(*expired);
    }
  }
  return sent_;
}

// Those whose addresses had expired.
Result<std::vector<const File*>> ObjectSender::send_some(const std::vector<const File*>& files) {
  std::vector<const File*> expired;
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, std::vector<const File*>> waiting;  // by digest
  const auto end = [&](const File* file, Outcome outcome) {
    if (outcome == Outcome::expired) {
      expired.push_back(file);
      return;
    }
    done_ += file->size;
    tell(*file, 0);
  };
  for (const File* file : files) {
    bool was_begun = false;
    auto outcome = go_on(*file, was_begun);
    if (!outcome) return propagate(outcome);
    if (was_begun) {
      end(file, *outcome);
      continue;
    }
    sizes[file->sha256] = file->size;
    waiting[file->sha256].push_back(file);
  }
  if (sizes.empty()) return expired;
  auto transfers = api_.batch(sizes);
  if (!transfers) return propagate(transfers);
  for (const Transfer& transfer : *transfers) {
    const auto& same = waiting[transfer.oid];
    auto outcome = carry_out(transfer, *same.front());
    if (!outcome) return propagate(outcome);
    for (const File* file : same) end(file, *outcome);
  }
  return expired;
}

// An upload in parts that an earlier try has begun.
Result<ObjectSender::Outcome> ObjectSender::go_on(const File& file, bool& was_begun) {
  was_begun = false;
  auto sealed = memory_.get(key_of(file));
  if (!sealed) return propagate(sealed);
  if (!*sealed) return Outcome::expired;
  auto token = api_.token();
  if (!token) return propagate(token);
  const auto text = unseal(**sealed, *token);
  const auto value = parse_json(text.value_or(""), "");
  const auto* object = value ? value->if_object() : nullptr;
  Multipart upload;
  if (object != nullptr) {
    upload.good_until_ms = int_or(*object, "good_until_ms", 0);
    upload.transfer.oid = file.sha256;
    upload.transfer.upload = string_or(*object, "upload", "");
    upload.transfer.headers = headers_in(*object, "headers");
    upload.transfer.part_size = int_or(*object, "part_size", 0);
    upload.transfer.verify = string_or(*object, "verify", "");
    upload.transfer.verify_headers = headers_in(*object, "verify_headers");
    if (const json::value* parts = object->if_contains("parts"); parts && parts->is_array()) {
      for (const json::value& part : parts->get_array()) {
        if (part.is_string()) upload.transfer.parts.emplace_back(view(part.get_string()));
      }
    }
  }
  if (upload.transfer.part_size <= 0 || upload.transfer.parts.empty() ||
      upload.good_until_ms - spare_ms < now().wall.ms) {
    if (auto ok = memory_.forget(key_of(file)); !ok) return propagate(ok);
    return Outcome::expired;
  }
  was_begun = true;
  upload.key =
      fmt::format("{}/{}/", key_of(file), sha256_hex(upload.transfer.upload).substr(0, 16));
  return send_parts(upload, file);
}

Result<ObjectSender::Multipart> ObjectSender::begin(const Transfer& transfer, const File& file) {
  Multipart upload{transfer, now().wall.ms + usual_life_ms, {}};
  for (const std::string& part : transfer.parts) {
    if (const auto until = good_until_ms(part)) {
      upload.good_until_ms =
          &part == &transfer.parts.front() ? *until : std::min(upload.good_until_ms, *until);
    }
  }
  upload.key = fmt::format("{}/{}/", key_of(file), sha256_hex(transfer.upload).substr(0, 16));
  auto token = api_.token();
  if (!token) return propagate(token);
  const std::string sealed = seal(json::serialize(upload.to_json()), *token);
  if (sealed.empty()) return upload;  // only a restart will not know of it
  if (auto ok = memory_.forget(key_of(file)); !ok) return propagate(ok);
  if (auto ok = memory_.put(key_of(file), sealed); !ok) return propagate(ok);
  return upload;
}

Result<ObjectSender::Outcome> ObjectSender::carry_out(const Transfer& transfer, const File& file) {
  if (!transfer.refusal.empty()) {
    return fail(
        ErrorKind::permanent,
        fmt::format("the Hub does not take '{}': {}", file.name, safe_words(transfer.refusal)),
        api_.shown(), "look at the account's storage and at the size of the file");
  }
  if (transfer.stored) return Outcome::there;
  if (transfer.part_size == 0) return send_whole(transfer, file);
  auto upload = begin(transfer, file);
  if (!upload) return propagate(upload);
  return send_parts(*upload, file);
}

Result<ObjectSender::Outcome> ObjectSender::send_whole(const Transfer& transfer, const File& file) {
  net::Request request;
  request.method = "PUT";
  request.url = transfer.upload;
  for (const auto& header : transfer.headers)
    request.headers.push_back({header.name, header.value});
  request.body = net::FileSlice{file.descriptor.get(), 0, file.size};
  request.total_ms = 0;
  request.most_bytes_per_second = api_.options().bytes_per_second;
  auto answer = api_.send(request, false, [&](std::int64_t bytes) { tell(file, bytes); });
  if (!answer) return propagate(answer);
  if (!is_ok(*answer)) return refused(*answer, file);
  sent_ += file.size;
  return confirm(transfer.verify, transfer.verify_headers, file);
}

Result<ObjectSender::Outcome> ObjectSender::send_parts(const Multipart& upload, const File& file) {
  const Transfer& transfer = upload.transfer;
  std::vector<std::string> etags;
  for (std::size_t i = 0; i < transfer.parts.size(); ++i) {
    const std::int64_t offset = static_cast<std::int64_t>(i) * transfer.part_size;
    const std::int64_t size = std::min(transfer.part_size, file.size - offset);
    const std::string key = fmt::format("{}{}", upload.key, i + 1);
    auto known = memory_.get(key);
    if (!known) return propagate(known);
    if (*known) {
      etags.push_back(std::move(**known));
      tell(file, offset + size);
      continue;
    }
    net::Request request;
    request.method = "PUT";
    request.url = transfer.parts[i];
    request.body = net::FileSlice{file.descriptor.get(), offset, size};
    request.total_ms = 0;
    request.most_bytes_per_second = api_.options().bytes_per_second;
    auto answer =
        api_.send(request, false, [&](std::int64_t bytes) { tell(file, offset + bytes); });
    if (!answer) return propagate(answer);
    if (!is_ok(*answer)) return refused(*answer, file);
    const std::string etag(answer->header("etag"));
    if (etag.empty()) {
      return fail(ErrorKind::transient, "the store behind the Hub did not say what it got",
                  api_.shown());
    }
    sent_ += size;
    if (auto ok = memory_.put(key, etag); !ok) return propagate(ok);
    etags.push_back(etag);
  }
  return complete(upload, file, etags);
}

Result<ObjectSender::Outcome> ObjectSender::complete(const Multipart& upload, const File& file,
                                                     const std::vector<std::string>& etags) {
  net::Request request;
  request.method = "POST";
  request.url = upload.transfer.upload;
  request.headers = lfs_headers(upload.transfer.headers);
  request.body = completion_body(file.sha256, etags);
  auto answer = api_.send(request, false);
  if (!answer) return propagate(answer);
  // Also where an earlier answer was lost and the upload is no more: the next batch knows better.
  if (!is_ok(*answer)) return refused(*answer, file);
  if (auto ok = memory_.forget(key_of(file)); !ok) return propagate(ok);
  return confirm(upload.transfer.verify, upload.transfer.verify_headers, file);
}

Result<ObjectSender::Outcome> ObjectSender::confirm(const std::string& url,
                                                    const std::vector<Transfer::Header>& headers,
                                                    const File& file) {
  if (url.empty()) return Outcome::there;
  net::Request request;
  request.method = "POST";
  request.url = url;
  request.headers = lfs_headers(headers);
  request.body = verify_body(file.sha256, file.size);
  auto answer = api_.send(request, true);
  if (!answer) return propagate(answer);
  if (is_ok(*answer)) return Outcome::there;
  if (answer->status == 401 || net::may_be_retried(answer->status)) {
    return api_.refuse(*answer, fmt::format("have '{}' confirmed", file.name));
  }
  return refused(*answer, file);
}

Result<ObjectSender::Outcome> ObjectSender::refused(const net::Answer& answer, const File& file) {
  if (net::may_be_retried(answer.status)) {
    return api_.refuse(answer, fmt::format("send '{}'", file.name));
  }
  if (auto ok = memory_.forget(key_of(file)); !ok) return propagate(ok);
  if (answer.status == 403) return Outcome::expired;
  // Of all else the bytes may be the reason.
  auto digest = file_digest(file.descriptor.get(), file.size, file.name, 0, api_.options().stop);
  if (!digest) return propagate(digest);
  if (*digest != file.sha256) {
    return fail(ErrorKind::corrupt, "was changed while it was sent", file.name,
                "a checkpoint is not written to once it is there");
  }
  return Outcome::expired;
}

}  // namespace trainward::upload::hub
