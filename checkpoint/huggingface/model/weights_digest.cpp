#include "checkpoint/huggingface/model/weights_digest.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

constexpr std::uint64_t portion = 4U << 20U;

std::int64_t nanoseconds(const struct timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<WeightsIdentity> identity_of(const MappedTensors& weights) {
  WeightsIdentity identity;
  for (const WeightsFile& file : weights.files()) {
    struct stat info {};
    if (::fstat(file.fd.get(), &info) != 0) return fail_errno(errno, "look at the file", file.name);
    identity.push_back({file.name, static_cast<std::uint64_t>(info.st_size), info.st_ino,
                        nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)});
  }
  return identity;
}

json::array to_json(const WeightsIdentity& identity) {
  json::array array;
  for (const FileIdentity& file : identity) {
    array.push_back({{"name", file.name},
                     {"bytes", file.bytes},
                     {"inode", static_cast<std::int64_t>(file.inode)},
                     {"modified_ns", file.modified_ns},
                     {"changed_ns", file.changed_ns}});
  }
  return array;
}

Result<WeightsIdentity> parse_identity(const json::array& array) {
  WeightsIdentity identity;
  for (const json::value& value : array) {
    if (!value.is_object())
      return fail(ErrorKind::corrupt, "'files' holds a value that is not an object");
    const json::object& object = value.get_object();
    auto name = get_string(object, "name");
    if (!name) return propagate(name);
    auto bytes = get_int(object, "bytes");
    if (!bytes) return propagate(bytes);
    auto inode = get_int(object, "inode");
    if (!inode) return propagate(inode);
    auto modified = get_int(object, "modified_ns");
    if (!modified) return propagate(modified);
    auto changed = get_int(object, "changed_ns");
    if (!changed) return propagate(changed);
    identity.push_back({std::move(*name), static_cast<std::uint64_t>(*bytes),
                        static_cast<std::uint64_t>(*inode), *modified, *changed});
  }
  return identity;
}

Result<std::string> digest_of(const MappedTensors& weights, const Progress& progress) {
  std::uint64_t total = 0;
  for (const WeightsFile& file : weights.files()) total += file.bytes;
  std::uint64_t done = 0;
  std::string buffer(std::min(portion, total), '\0');
  Sha256 all;
  for (const WeightsFile& file : weights.files()) {
    Sha256 one;
    for (std::uint64_t at = 0; at < file.bytes;) {
      const std::uint64_t size = std::min<std::uint64_t>(buffer.size(), file.bytes - at);
      auto got = read_at(file.fd.get(), std::as_writable_bytes(std::span(buffer).first(size)), at,
                         file.name);
      if (!got) return propagate(got);
      if (*got < size) {
        return fail(ErrorKind::corrupt, fmt::format("ends at byte {}", at + *got), file.name,
                    "it was cut while it was being read: try again with a whole copy");
      }
      one.update(std::string_view(buffer).substr(0, size));
      at += size;
      done += size;
      if (!progress) continue;
      if (auto ok = progress(done, total); !ok) return propagate(ok);
    }
    all.update(fmt::format("{}  {}\n", one.finish(), file.name));
  }
  return all.finish();
}

}  // namespace trainward::checkpoint::huggingface
