#include "supervisor/courier/upload/target/file_digest.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"
#include "supervisor/courier/upload/target/digests.hpp"

namespace trainward::upload {
namespace {

constexpr std::size_t digest_digits = 64;

// As they are kept: one after the other.
std::string joined(const std::vector<std::string>& digests) {
  std::string out;
  for (const std::string& digest : digests) out += digest;
  return out;
}

std::optional<std::vector<std::string>> parted(std::string_view text, std::int64_t parts) {
  if (text.size() != digest_digits * static_cast<std::size_t>(parts)) return std::nullopt;
  std::vector<std::string> out;
  for (; !text.empty(); text.remove_prefix(digest_digits)) {
    out.emplace_back(text.substr(0, digest_digits));
  }
  return out;
}

std::string whole_key(const std::string& identity) { return "digest/" + identity; }

std::string parts_key(const std::string& identity, std::int64_t part_bytes) {
  return fmt::format("digest/{}/{}", identity, part_bytes);
}

}  // namespace

Result<std::string> file_digest(int fd, std::int64_t size, const std::filesystem::path& where,
                                std::int64_t offset, const std::stop_token& stop) {
  std::vector<char> buffer(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, 1 << 20)));
  Sha256 hash;
  std::int64_t left = size;
  while (left > 0) {
    if (stop.stop_requested()) return fail(ErrorKind::transient, "stopped", where.string());
    const auto take = static_cast<std::size_t>(
        std::min<std::int64_t>(left, static_cast<std::int64_t>(buffer.size())));
    auto read = read_at(fd, std::as_writable_bytes(std::span(buffer).first(take)),
                        static_cast<std::uint64_t>(offset), where);
    if (!read) return propagate(read);
    if (*read < take) {
      return fail(ErrorKind::corrupt, "ends before all of it was read", where.string());
    }
    hash.update(std::string_view(buffer.data(), take));
    offset += static_cast<std::int64_t>(take);
    left -= static_cast<std::int64_t>(take);
  }
  return hash.finish();
}

Status settle_fetched(int fd, const Remote::File& file, const std::string& where,
                      const std::stop_token& stop) {
  if (::fsync(fd) != 0) return fail_errno(errno, "sync", file.name);
  auto digest = file_digest(fd, file.size, file.name, 0, stop);
  if (!digest) return propagate(digest);
  if (*digest == file.sha256) return {};
  return fail(ErrorKind::corrupt, "does not hold the bytes that were sent", where);
}

Status fetch_files(const Remote& remote, const Into& into, const Progress& progress,
                   const FetchOne& one) {
  std::int64_t done = 0;
  for (const Remote::File& file : remote.files) {
    auto out = into(file);
    if (!out) return propagate(out);
    const Progress part = [&](std::int64_t bytes) {
      if (progress) progress(done + bytes);
    };
    if (auto ok = one(file, out->get(), part); !ok) return ok;
    done += file.size;
    if (progress) progress(done);
  }
  return {};
}

Result<std::string> identity_of(const File& file) {
  struct stat info {};
  if (::fstat(file.descriptor.get(), &info) != 0) return fail_errno(errno, "look at", file.name);
  // Not the device: its number may be another one after the next start of the machine.
  return fmt::format("{}:{}:{}", info.st_ino, file.size, file.modified_ns);
}

Status take_digests(File& file, std::int64_t part_bytes, const std::filesystem::path& where,
                    Memory& memory, const std::stop_token& stop) {
  auto identity = identity_of(file);
  if (!identity) return propagate(identity);
  auto whole = memory.get(whole_key(*identity));
  if (!whole) return propagate(whole);
  if (part_bytes == 0) {
    if (*whole) {
      file.sha256 = **whole;
      return unchanged(file);
    }
    auto digest = file_digest(file.descriptor.get(), file.size, where, 0, stop);
    if (!digest) return propagate(digest);
    file.sha256 = std::move(*digest);
    if (auto ok = unchanged(file); !ok) return ok;
    return memory.put(whole_key(*identity), file.sha256);
  }
  auto text = memory.get(parts_key(*identity, part_bytes));
  if (!text) return propagate(text);
  auto parts = parted(text->value_or(""), (file.size + part_bytes - 1) / part_bytes);
  if (*whole && parts) {
    file.sha256 = **whole;
    file.digests = Digests::kept(part_bytes, file.sha256, std::move(*parts));
    return unchanged(file);
  }
  file.digests = Digests::of(file.descriptor.get(), file.size, part_bytes, where, stop);
  return {};
}

Status settle(const File& file, Memory& memory) {
  if (auto whole = digest_of(file); !whole) return propagate(whole);
  if (auto ok = unchanged(file); !ok) return ok;
  return keep_digests(file, memory);
}

Status keep_digests(const File& file, Memory& memory) {
  // A file that has its digest had it kept, or was never of a checkpoint here.
  if (!file.sha256.empty() || !file.digests) return {};
  const auto whole = file.digests->whole_if_taken();
  if (!whole || !unchanged(file)) return {};
  auto identity = identity_of(file);
  if (!identity) return propagate(identity);
  const std::string parts = joined(file.digests->parts());
  if (auto ok = memory.put(parts_key(*identity, file.digests->part_bytes()), parts); !ok) return ok;
  return memory.put(whole_key(*identity), *whole);
}

Result<std::string> digest_of(const File& file) {
  if (!file.sha256.empty() || !file.digests) return file.sha256;
  return file.digests->whole();
}

std::string known_digest(const File& file) {
  if (!file.sha256.empty() || !file.digests) return file.sha256;
  return file.digests->whole_if_taken().value_or("");
}

Result<std::string> part_digest(const File& file, std::int64_t part_bytes, std::size_t index,
                                const std::stop_token& stop) {
  if (file.digests && file.digests->part_bytes() == part_bytes) {
    auto taken = file.digests->part(index);
    if (!taken) return propagate(taken);
    if (*taken) return **taken;
  }
  const std::int64_t offset = static_cast<std::int64_t>(index) * part_bytes;
  return file_digest(file.descriptor.get(), std::min(part_bytes, file.size - offset), file.name,
                     offset, stop);
}

Status forget_digests(Memory& memory) { return memory.forget("digest/"); }

std::int64_t modified_ns(const struct stat& info) {
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

Status unchanged(const File& file) {
  if (file.modified_ns == 0) return {};
  struct stat info {};
  if (::fstat(file.descriptor.get(), &info) != 0) return fail_errno(errno, "look at", file.name);
  if (info.st_size == file.size && modified_ns(info) == file.modified_ns) return {};
  return fail(ErrorKind::corrupt, "was written while it was sent", file.name,
              "its program writes into checkpoints it has finished; the next one is tried");
}

}  // namespace trainward::upload
