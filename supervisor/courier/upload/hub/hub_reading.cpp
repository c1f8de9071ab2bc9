#include "supervisor/courier/upload/hub/hub_reading.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "common/base/digest.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "supervisor/courier/net/http_retry.hpp"
#include "supervisor/courier/upload/hub/branch.hpp"
#include "supervisor/courier/upload/hub/hub_refusal.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"
#include "supervisor/courier/upload/target/publication.hpp"

namespace trainward::upload::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_tags = 200;
constexpr int most_cuts = 100;  // of one file; each goes on where the one before ended

}  // namespace

Result<std::vector<Reading::Found>> Reading::find_all(const std::string& program) {
  std::vector<Found> out;
  std::string unreadable;
  const auto add = [&](Contents there) {
    if (!there.unreadable.empty()) unreadable = there.unreadable;
    for (Record& record : there.records) {
      const bool known = std::any_of(out.begin(), out.end(), [&](const Found& found) {
        return same_content(found.record.remote, record.remote);
      });
      if (record.program == program && !known) out.push_back({std::move(record), there.revision});
    }
  };
  auto head = api_.find_head();
  if (!head) return propagate(head);
  if (!*head) return out;
  auto branch = read_contents(api_, (*head)->commit);
  if (!branch) return propagate(branch);
  add(std::move(*branch));
  auto tags = api_.tags();
  if (!tags) return propagate(tags);
  // "step-1000" before "step-999".
  std::sort(tags->begin(), tags->end(), [](const Tag& a, const Tag& b) {
    return std::pair(a.name.size(), std::string_view(a.name)) >
           std::pair(b.name.size(), std::string_view(b.name));
  });
  if (tags->size() > most_tags) tags->resize(most_tags);
  for (const Tag& tag : *tags) {
    auto there = read_contents(api_, tag.commit);
    if (there) {
      add(std::move(*there));
    } else if (there.error().kind == ErrorKind::transient) {
      return propagate(there);
    }
  }
  // One that is damaged hides no other; but it is not nothing.
  if (out.empty() && !unreadable.empty()) {
    return fail(ErrorKind::corrupt, "is no record of a published checkpoint",
                fmt::format("{}/{}", api_.shown(), record_path(unreadable)));
  }
  std::stable_sort(out.begin(), out.end(), [](const Found& a, const Found& b) {
    return is_newer(a.record.remote, b.record.remote);
  });
  return out;
}

Result<Reading::Found> Reading::find(const std::string& program, const Remote& remote) {
  auto all = find_all(program);
  if (!all) return propagate(all);
  const auto found = std::find_if(all->begin(), all->end(), [&](const Found& one) {
    return same_content(one.record.remote, remote);
  });
  if (found != all->end()) return std::move(*found);
  return fail(ErrorKind::permanent, fmt::format("no longer contains '{}'", remote.name),
              api_.shown(), "a newer checkpoint took its place, and no tag names it");
}

Result<std::vector<Remote>> Reading::list(const std::string& program) {
  auto all = find_all(program);
  if (!all) return propagate(all);
  std::vector<Remote> out;
  for (Found& found : *all) out.push_back(std::move(found.record.remote));
  return out;
}

Status Reading::verify(const std::string& program, const Remote& remote) {
  auto found = find(program, remote);
  if (!found) return propagate(found);
  auto there = read_contents(api_, found->revision);
  if (!there) return propagate(there);
  for (const Remote::File& file : remote.files) {
    const std::string path = file_path(found->record, file.name);
    const auto entry = there->files.find(path);
    if (entry == there->files.end()) {
      return fail(ErrorKind::corrupt, "is not there", api_.shown() + "/" + path);
    }
    if (auto ok = check_bytes(*found, file, entry->second); !ok) return ok;
  }
  return {};
}

Status Reading::check_bytes(const Found& found, const Remote::File& file, const Entry& entry) {
  const std::string where = api_.shown() + "/" + entry.path;
  if (entry.size != file.size) {
    return fail(ErrorKind::corrupt,
                fmt::format("has {} bytes instead of {}", entry.size, file.size), where);
  }
  std::string digest = entry.sha256;
  if (digest.empty()) {
    // Of a regular file the server tells no SHA-256: it is small, and is read.
    if (file.size > largest_regular) {
      return fail(ErrorKind::corrupt, "is no LFS object, and too long for a regular file", where);
    }
    auto text = api_.text(found.revision, entry.path, static_cast<std::size_t>(largest_regular));
    if (!text) return propagate(text);
    digest = sha256_hex(text->value_or(""));
  }
  if (digest == file.sha256) return {};
  return fail(ErrorKind::corrupt, "does not hold the bytes that were sent", where);
}

Status Reading::fetch(const std::string& program, const Remote& remote, const Into& into,
                      const Progress& progress) {
  auto found = find(program, remote);
  if (!found) return propagate(found);
  const auto one = [&](const Remote::File& file, int out, const Progress& part) -> Status {
    if (auto ok = fetch_file(*found, file, out, part); !ok) return ok;
    const std::string shown =
        fmt::format("{}/{}", api_.shown(), file_path(found->record, file.name));
    return settle_fetched(out, file, shown, api_.options().stop);
  };
  return fetch_files(remote, into, progress, one);
}

// A download that was cut off resumes where it ended; a server without ranges makes it start over.
Status Reading::fetch_file(const Found& found, const Remote::File& file, int descriptor,
                           const Progress& progress) {
  auto at = api_.repository();
  if (!at) return propagate(at);
  const std::string path = file_path(found.record, file.name);
  const auto begin_anew = [&]() -> Status {
    if (::ftruncate(descriptor, 0) == 0) return {};
    return fail_errno(errno, "empty", file.name);
  };
  bool ranges = true;
  int without_a_byte = 0;
  for (int cuts = 0; cuts < most_cuts; ++cuts) {
    struct stat info {};
    if (::fstat(descriptor, &info) != 0) return fail_errno(errno, "look at", file.name);
    const std::int64_t offset = info.st_size;
    if (offset == file.size) return {};
    net::Request request;
    request.url = resolve_url(*at, found.revision, path);
    if (offset > 0) request.headers.push_back({"Range", fmt::format("bytes={}-", offset)});
    request.most_answer_bytes = file.size - offset;
    request.into = descriptor;
    request.into_offset = offset;
    request.total_ms = 0;
    request.most_bytes_per_second = api_.options().bytes_per_second;
    request.most_redirects = 5;
    auto answer = api_.send(
        request, true, [&](std::int64_t bytes) { progress(offset + bytes); }, false);
    const bool ignored = offset > 0 && answer && answer->status == 200;
    const bool refused = offset > 0 && answer ? answer->status == 416 : false;
    if (ignored || refused ||
        (offset > 0 && !answer && answer.error().kind == ErrorKind::corrupt)) {
      if (!ranges) {
        return fail(ErrorKind::transient,
                    "is sent from its beginning each time, and cut off each time",
                    api_.shown() + "/" + path);
      }
      ranges = false;
      if (auto ok = begin_anew(); !ok) return ok;
      continue;
    }
    if (answer && is_ok(*answer)) {
      if (::fstat(descriptor, &info) != 0) return fail_errno(errno, "look at", file.name);
      if (info.st_size == file.size) return {};
      // All that there is, by the server's word.
      if (offset == 0 && answer->status == 200) {
        return fail(ErrorKind::corrupt,
                    fmt::format("has {} bytes instead of {}", info.st_size, file.size),
                    api_.shown() + "/" + path);
      }
    } else if (answer && !(net::may_be_retried(answer->status) && answer->status != 429)) {
      return api_.refuse(*answer, fmt::format("fetch '{}'", path));
    } else if (!answer && answer.error().kind != ErrorKind::transient) {
      return propagate(answer);
    }
    if (::fstat(descriptor, &info) != 0) return fail_errno(errno, "look at", file.name);
    without_a_byte = info.st_size > offset ? 0 : without_a_byte + 1;
    const auto& pauses = api_.times().pauses_ms;
    if (static_cast<std::size_t>(without_a_byte) > pauses.size()) {
      if (!answer) return propagate(answer);
      return api_.refuse(*answer, fmt::format("fetch '{}'", path));
    }
    if (without_a_byte > 0 && !api_.pause(pauses[static_cast<std::size_t>(without_a_byte - 1)])) {
      return fail(ErrorKind::transient, "was stopped", api_.shown());
    }
  }
  return fail(ErrorKind::transient, "was cut off too often", api_.shown() + "/" + path);
}

}  // namespace trainward::upload::hub
