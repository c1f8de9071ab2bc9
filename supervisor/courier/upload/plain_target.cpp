#include "supervisor/courier/upload/plain_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"
#include "supervisor/courier/upload/target/ownership.hpp"
#include "supervisor/courier/upload/target/publication.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listed = 1'000;  // the newest
constexpr int most_tries = 8;               // against others who write the same object

// Keys of the target's memory that belong to one package.
std::string memory_of(const std::string& program, const std::string& name) {
  return fmt::format("sent/{}/{}/", program, name);
}

std::int64_t size_of(const Package& package) {
  std::int64_t bytes = 0;
  for (const File& file : package.files) bytes += file.size;
  return bytes;
}

// What the text of `latest.json` says; a damaged one says nothing.
json::object latest_in(const std::string& text) {
  auto value = parse_json(text, "latest.json");
  return value && value->is_object() ? value->get_object() : json::object();
}

}  // namespace

Result<Published> PlainTarget::publish(const Package& package, const Progress& progress) {
  const std::string place = store_->shown(package.program + "/" + package.name);
  if (auto ok = may_publish(package); !ok) return propagate(ok);
  auto there = is_published(package);
  if (!there) return propagate(there);
  Published out{place, 0};
  if (!*there) {
    auto sent = send_files(package, progress);
    if (!sent) return propagate(sent);
    out.sent_bytes = *sent;
    fault_point("upload.files_sent");
    if (auto ok = send_texts(package); !ok) return propagate(ok);
    // Sending may have taken hours.
    if (auto ok = may_publish(package); !ok) return propagate(ok);
    if (auto ok = publish_record(package); !ok) return propagate(ok);
    fault_point("upload.published");
  } else if (progress) {
    progress(size_of(package));
  }
  if (auto ok = finish(package); !ok) return propagate(ok);
  return out;
}

// Before anything is changed there. `replaced`: whose the record is that would be taken back, which
// counts where nobody is known to have published last; what is left of a run before is replaced.
Status PlainTarget::may_publish(const Package& package, const std::string& replaced) {
  auto there = store_->get_text(latest_key(package.program), longest_manifest);
  if (!there) return propagate(there);
  std::string last = *there ? string_or(latest_in((*there)->text), "run", "") : "";
  if (last.empty()) last = replaced;
  return upload::may_publish(package.run, last, memory_, store_->shown(package.program));
}

// A record of the same name with other files is of a checkpoint that was saved again, or of files
// that were damaged there: it is withdrawn first, because its files are about to be replaced.
Result<bool> PlainTarget::is_published(const Package& package) {
  const std::string key = manifest_key(package.program, package.step, package.name);
  auto text = store_->get_text(key, longest_manifest);
  if (!text) return propagate(text);
  if (!*text) return false;
  for (const File& file : package.files) {
    if (auto ok = settle(file, memory_); !ok) return propagate(ok);
  }
  auto remote = parse_manifest((*text)->text, store_->shown(key));
  if (remote && same_content(*remote, remote_of(package))) {
    auto whole = verify(package.program, *remote);
    if (whole) return true;
    if (whole.error().kind != ErrorKind::corrupt) return propagate(whole);
  }
  if (!remote && remote.error().kind == ErrorKind::permanent) return propagate(remote);
  if (auto ok = may_publish(package, remote ? remote->run : ""); !ok) return propagate(ok);
  if (auto ok = memory_.forget(memory_of(package.program, package.name)); !ok) return propagate(ok);
  if (auto ok = store_->remove(key); !ok) return propagate(ok);
  if (auto ok = abandon(package.program, package.name); !ok) return propagate(ok);
  return false;
}

Result<bool> PlainTarget::has_arrived(const std::string& key, const File& file,
                                      const std::string& memory_key) {
  auto known = memory_.get(memory_key);
  if (!known) return propagate(known);
  if (!*known) return false;
  auto digest = digest_of(file);
  if (!digest) return propagate(digest);
  if (**known != *digest) return false;
  auto size = store_->size(key);
  if (!size) return propagate(size);
  return *size == file.size;
}

Result<std::int64_t> PlainTarget::send_files(const Package& package, const Progress& progress) {
  std::int64_t done = 0;
  std::int64_t sent = 0;
  for (const File& file : package.files) {
    const std::string key = file_key(package.program, package.name, file.name);
    const std::string memory_key = memory_of(package.program, package.name) + file.name;
    auto arrived = has_arrived(key, file, memory_key);
    if (!arrived) return propagate(arrived);
    if (!*arrived) {
      const Progress part = [&](std::int64_t bytes) {
        if (progress) progress(done + bytes);
      };
      Status put = store_->put_file(key, file, part);
      // First, since a server may have refused it for just that.
      if (auto ok = unchanged(file); !ok) return propagate(ok);
      if (!put) {
        if (auto ok = keep_digests(file, memory_); !ok) return propagate(ok);
        return propagate(put);
      }
      if (auto ok = settle(file, memory_); !ok) return propagate(ok);
      fault_point("upload.file_sent");
      if (auto ok = memory_.put(memory_key, known_digest(file)); !ok) return propagate(ok);
      fault_point("upload.file_noted");
      sent += file.size;
    }
    if (auto ok = store_->noted(key); !ok) return propagate(ok);
    done += file.size;
    if (progress) progress(done);
  }
  return sent;
}

Status PlainTarget::send_texts(const Package& package) {
  for (const Package::Text& text : package.texts) {
    const std::string key = package.program + "/" + text.name;
    auto there = store_->get_text(key, longest_manifest);
    if (!there) return propagate(there);
    if (*there && (*there)->text == text.text) continue;
    auto put = store_->put_text(key, text.text, *there);
    if (!put) return propagate(put);
  }
  return {};
}

Status PlainTarget::publish_record(const Package& package) {
  const std::string key = manifest_key(package.program, package.step, package.name);
  const Remote remote = remote_of(package);
  const std::string text = manifest_text(package.program, remote);
  if (auto ok = check_readable(text, remote); !ok) return ok;
  auto put = store_->put_text(key, text, std::nullopt);
  if (!put) return propagate(put);
  if (*put) return {};
  // Somebody has published it meanwhile: this process before its answer was lost, or another box.
  auto there = is_published(package);
  if (!there) return propagate(there);
  if (*there) return {};
  return fail(
      ErrorKind::transient, "is published by somebody else at the same time, with other files",
      store_->shown(key), "two runs must not share a place: give one of them another prefix");
}

// The one that was saved last: a milestone that follows later does not move it back, nor does what
// a box whose clock is behind has saved. Only whom it names has taken the place.
Status PlainTarget::point_latest(const Package& package) {
  const std::string key = latest_key(package.program);
  json::object latest{{"name", package.name},
                      {"step", package.step},
                      {"saved_ms", package.saved_ms},
                      {"record", manifest_key(package.program, package.step, package.name)}};
  if (!package.run.id.empty()) latest["run"] = package.run.id;
  const std::string text = json::serialize(latest) + "\n";
  for (int tries = 0; tries < most_tries; ++tries) {
    auto there = store_->get_text(key, longest_manifest);
    if (!there) return propagate(there);
    if (*there) {
      if ((*there)->text == text) return note_ownership(package.run, memory_);
      const json::object newest = latest_in((*there)->text);
      auto mine = upload::may_publish(package.run, string_or(newest, "run", ""), memory_,
                                      store_->shown(package.program));
      if (!mine) return mine;
      if (int_or(newest, "saved_ms", 0) > package.saved_ms) return {};
    }
    auto put = store_->put_text(key, text, *there);
    if (!put) return propagate(put);
    if (*put) return note_ownership(package.run, memory_);
  }
  return fail(ErrorKind::transient, "is changed by somebody else all the time", store_->shown(key));
}

Status PlainTarget::finish(const Package& package) {
  if (auto ok = point_latest(package); !ok) return ok;
  fault_point("upload.latest");
  return memory_.forget(memory_of(package.program, package.name));
}

Status PlainTarget::abandon(const std::string& program, const std::string& name) {
  const std::string folder = program + "/" + name + "/";
  // What is named by a record stays.
  auto records = store_->list(published_folder(program));
  if (!records) return propagate(records);
  const std::string ending = "." + name + ".json";
  for (const std::string& record : *records) {
    if (record.ends_with(ending)) return memory_.forget(memory_of(program, name));
  }
  if (auto ok = store_->abandon(folder); !ok) return ok;
  if (auto ok = store_->abandon(published_folder(program)); !ok) return ok;  // half a record
  auto keys = store_->list(folder);
  if (!keys) return propagate(keys);
  for (const std::string& key : *keys) {
    if (auto ok = store_->remove(key); !ok) return ok;
  }
  return memory_.forget(memory_of(program, name));
}

Result<std::vector<Remote>> PlainTarget::list(const std::string& program) {
  auto keys = store_->list(published_folder(program));
  if (!keys) return propagate(keys);
  std::erase_if(*keys, [](const std::string& key) { return step_of_key(key) < 0; });
  std::stable_sort(keys->begin(), keys->end(), [](const std::string& a, const std::string& b) {
    return step_of_key(a) > step_of_key(b);
  });
  if (keys->size() > most_listed) keys->resize(most_listed);
  std::vector<Remote> out;
  std::optional<Error> unreadable;
  for (const std::string& key : *keys) {
    auto text = store_->get_text(key, longest_manifest);
    if (!text) return propagate(text);
    if (!*text) continue;
    auto remote = parse_manifest((*text)->text, store_->shown(key));
    // Of a version that is not known: who reads the others would take an old one for the newest.
    if (!remote && remote.error().kind == ErrorKind::permanent) return propagate(remote);
    // One that is damaged hides no other.
    if (remote) {
      out.push_back(std::move(*remote));
    } else if (!unreadable) {
      unreadable = remote.error();
    }
  }
  if (out.empty() && unreadable) return tl::unexpected<Error>(std::move(*unreadable));
  std::stable_sort(out.begin(), out.end(), is_newer);
  return out;
}

Status PlainTarget::verify(const std::string& program, const Remote& remote) {
  for (const Remote::File& file : remote.files) {
    const std::string key = file_key(program, remote.name, file.name);
    auto size = store_->size(key);
    if (!size) return propagate(size);
    if (!*size) return fail(ErrorKind::corrupt, "is not there", store_->shown(key));
    if (**size != file.size) {
      return fail(ErrorKind::corrupt, fmt::format("has {} bytes instead of {}", **size, file.size),
                  store_->shown(key));
    }
    auto digest = store_->digest(key);
    if (!digest) return propagate(digest);
    if (*digest && **digest != file.sha256) {
      return fail(ErrorKind::corrupt, "does not hold the bytes that were sent", store_->shown(key));
    }
  }
  return {};
}

Status PlainTarget::fetch(const std::string& program, const Remote& remote, const Into& into,
                          const Progress& progress) {
  const auto one = [&](const Remote::File& file, int out, const Progress& part) -> Status {
    const std::string key = file_key(program, remote.name, file.name);
    if (auto ok = store_->fetch(key, file.size, out, part); !ok) return ok;
    return settle_fetched(out, file, store_->shown(key));
  };
  return fetch_files(remote, into, progress, one);
}

}  // namespace trainward::upload
