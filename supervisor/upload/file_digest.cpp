#include "supervisor/upload/file_digest.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"

namespace trainward::upload {
namespace {

using Digests = std::vector<std::string>;

constexpr std::size_t digest_digits = 64;

Result<Digests> part_digests(const File& file, std::int64_t part_bytes,
                             const std::filesystem::path& where, const std::stop_token& stop) {
  Digests out;
  for (std::int64_t offset = 0; offset < file.size; offset += part_bytes) {
    auto digest = file_digest(file.descriptor.get(), std::min(part_bytes, file.size - offset),
                              where, offset, stop);
    if (!digest) return propagate(digest);
    out.push_back(std::move(*digest));
  }
  return out;
}

// As they are kept: one after the other.
std::string joined(const Digests& digests) {
  std::string out;
  for (const std::string& digest : digests) out += digest;
  return out;
}

std::optional<Digests> parted(std::string_view text, std::int64_t parts) {
  if (text.size() != digest_digits * static_cast<std::size_t>(parts)) return std::nullopt;
  Digests out;
  for (; !text.empty(); text.remove_prefix(digest_digits)) {
    out.emplace_back(text.substr(0, digest_digits));
  }
  return out;
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

Status take_digests(File& file, std::int64_t part_bytes, const std::filesystem::path& where,
                    Memory& memory, const std::stop_token& stop) {
  struct stat info {};
  if (::fstat(file.descriptor.get(), &info) != 0) return fail_errno(errno, "look at", file.name);
  const std::string key =
      fmt::format("digest/{}:{}:{}:{}", info.st_dev, info.st_ino, file.size, file.modified_ns);
  const std::string parts_key = fmt::format("{}/{}", key, part_bytes);

  auto whole = memory.get(key);
  if (!whole) return propagate(whole);
  std::future<Result<Digests>> taken;
  if (part_bytes > 0) {
    auto kept = memory.get(parts_key);
    if (!kept) return propagate(kept);
    auto parts = parted(kept->value_or(""), (file.size + part_bytes - 1) / part_bytes);
    if (parts) {
      file.part_sha256 = std::move(*parts);
    } else {
      // Whichever is ahead waits for the disk, and the other one finds its bytes in the page cache.
      taken = std::async(std::launch::async,
                         [&] { return part_digests(file, part_bytes, where, stop); });
    }
    file.part_bytes = part_bytes;
  }
  if (*whole) {
    file.sha256 = **whole;
  } else {
    auto digest = file_digest(file.descriptor.get(), file.size, where, 0, stop);
    if (!digest) return propagate(digest);
    file.sha256 = std::move(*digest);
  }
  const bool parts_are_new = taken.valid();
  if (parts_are_new) {
    auto parts = taken.get();
    if (!parts) return propagate(parts);
    file.part_sha256 = std::move(*parts);
  }
  if (auto ok = unchanged(file); !ok) return ok;
  if (parts_are_new) {
    if (auto ok = memory.put(parts_key, joined(file.part_sha256)); !ok) return ok;
  }
  return *whole ? Status() : memory.put(key, file.sha256);
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
