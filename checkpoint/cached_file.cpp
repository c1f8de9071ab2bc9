#include "checkpoint/cached_file.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/verified.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

// Hashed while it is still in the processor's cache.
constexpr std::size_t piece_bytes = std::size_t{1} << 18;
// More of them do not make the memory faster.
constexpr std::size_t most_threads = 8;

Status read_exactly(int fd, std::uint64_t at, std::span<std::byte> into, const fs::path& where) {
  auto got = read_at(fd, into, at, where);
  if (!got) return propagate(got);
  if (*got == into.size()) return {};
  return fail(ErrorKind::corrupt, fmt::format("ends at byte {}", at + *got), where.string());
}

// Part of the file that goes to one place.
struct Run {
  std::uint64_t begin = 0;  // in bytes from the start of the file
  std::uint64_t end = 0;
  std::byte* to = nullptr;  // null: nowhere
};

class CachedFile {
 public:
  CachedFile(const OpenFile& file, const FileEntry& entry, const fs::path& where)
      : file_(file), entry_(entry), where_(where) {}

  Status plan(std::uint64_t header_bytes, const PlaceOfTensor& place) {
    prefix_.resize(header_bytes);
    if (auto ok = read_from(0, std::as_writable_bytes(std::span(prefix_))); !ok) return ok;
    std::uint64_t length = 0;
    const std::string_view text(reinterpret_cast<const char*>(prefix_.data()), prefix_.size());
    if (text.size() >= sizeof length) std::memcpy(&length, text.data(), sizeof length);
    if (header_bytes > file_.size || length + sizeof length != header_bytes) {
      return changed_header(where_);
    }
    auto header = parse_safetensors_header(text.substr(sizeof length), file_.size - header_bytes,
                                           where_.string());
    if (!header) return propagate(header);
    runs_.push_back({0, header_bytes, nullptr});
    for (const Slot& slot : header->slots) {
      auto to = place(slot);
      if (!to) return propagate(to);
      runs_.push_back(
          {header_bytes + slot.begin, header_bytes + slot.end, to->empty() ? nullptr : to->data()});
    }
    return {};
  }

  Status read() {
    const std::size_t threads = std::clamp<std::size_t>(
        std::min<std::size_t>(std::thread::hardware_concurrency(), entry_.blocks.size()), 1,
        most_threads);
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back([this] { read_blocks(); });
      read_blocks();
    }
    // The first in the file, so that the same damage is told in the same words.
    for (std::size_t block = 0; block < failures_.size(); ++block) {
      if (failures_[block]) return tl::unexpected<Error>(*failures_[block]);
    }
    return {};
  }

 private:
  Status read_from(std::uint64_t at, std::span<std::byte> into) const {
    return read_exactly(file_.fd.get(), file_.begin + at, into, where_);
  }

  void read_blocks() {
    std::vector<std::byte> scratch(piece_bytes);
    for (std::size_t block = next_++; block < entry_.blocks.size(); block = next_++) {
      if (auto ok = read_block(block, scratch); !ok) failures_[block] = ok.error();
    }
  }

  Status read_block(std::size_t block, std::vector<std::byte>& scratch) {
    const std::uint64_t begin = block * block_bytes;
    const std::uint64_t end = std::min(begin + block_bytes, file_.size);
    BlockHasher hasher;
    auto run = std::partition_point(runs_.begin(), runs_.end(),
                                    [&](const Run& r) { return r.end <= begin; });
    for (std::uint64_t at = begin; at < end;) {
      while (run->end <= at) ++run;
      const std::uint64_t size = std::min<std::uint64_t>({piece_bytes, end - at, run->end - at});
      std::byte* const to = run->to != nullptr ? run->to + (at - run->begin) : scratch.data();
      const std::span<std::byte> piece(to, size);
      if (at < prefix_.size()) {
        std::memcpy(to, prefix_.data() + at, size);  // what was parsed is what is compared
      } else if (auto ok = read_from(at, piece); !ok) {
        return ok;
      }
      hasher.update({reinterpret_cast<const char*>(to), piece.size()});
      at += size;
    }
    const std::vector<std::string> found = hasher.finish();
    if (found.front() == entry_.blocks[block]) return {};
    return damaged_block(entry_, block, found.front(), where_);
  }

  const OpenFile& file_;
  const FileEntry& entry_;
  const fs::path& where_;
  std::vector<std::byte> prefix_;
  std::vector<Run> runs_;  // all of the file, in its order
  std::atomic<std::size_t> next_ = 0;
  // Of each block; written by the thread that read it.
  std::vector<std::optional<Error>> failures_ =
      std::vector<std::optional<Error>>(entry_.blocks.size());
};

}  // namespace

bool is_cached(const OpenFile& file) {
  constexpr std::uint64_t places = 64;
  for (std::uint64_t i = 0; i < places; ++i) {
    std::byte byte{};
    iovec into{&byte, 1};
    const std::uint64_t at = file.size / places * i + file.size / places / 2;
    if (::preadv2(file.fd.get(), &into, 1, static_cast<off_t>(at), RWF_NOWAIT) != 1) return false;
  }
  return true;
}

Status read_cached(const OpenFile& file, const FileEntry& entry, std::uint64_t header_bytes,
                   const PlaceOfTensor& place, const fs::path& where) {
  CachedFile cached(file, entry, where);
  auto ok = cached.plan(header_bytes, place);
  return ok ? cached.read() : ok;
}

}  // namespace trainward::checkpoint
