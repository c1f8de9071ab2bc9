#include "checkpoint/state_slot.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "checkpoint/disk/aligned_memory.hpp"
#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/image.hpp"
#include "checkpoint/slot_header.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint {
namespace {

// Hashed while it is still in the processor's cache.
constexpr std::uint64_t piece_bytes = 256U << 10U;
// A signal undoes all of a call's work, and it is made again.
constexpr std::uint64_t allocate_bytes = 32U << 20U;
// The digits of steps, tokens and times, and of what the state file counts, grow.
constexpr std::uint64_t spare_bytes = 2 * page_bytes;

struct Planned {
  Image image;
  std::uint64_t files_at = 0;
  std::uint64_t bytes = 0;
};

// With checksums of the length that they will have.
std::uint64_t manifest_room(const Image& image) {
  Manifest manifest;
  for (const ImageFile& file : image.files) {
    const std::uint64_t blocks = (file.source.size + block_bytes - 1) / block_bytes;
    manifest.files.push_back(
        {file.name, file.source.size, std::vector<std::string>(blocks, std::string(32, '0'))});
  }
  return round_to_pages(encode(manifest).size() + spare_bytes);
}

Result<Planned> plan(const StreamedContents& contents, const std::string& name) {
  auto image = plan_image(contents, 0, name);
  if (!image) return propagate(image);
  const std::uint64_t files_at = page_bytes + manifest_room(*image);
  const std::uint64_t bytes = files_at + image->bytes_in_pages();
  return Planned{std::move(*image), files_at, bytes};
}

// Copies the file to `to`, and returns what the manifest says of it.
Result<FileEntry> copy(const ImageFile& file, std::span<std::byte> to) {
  BlockHasher hasher;
  for (std::uint64_t at = 0; at < to.size();) {
    const auto piece = to.subspan(at, std::min<std::uint64_t>(piece_bytes, to.size() - at));
    if (auto ok = file.source.read(at, piece); !ok) return propagate(ok);
    hasher.update({reinterpret_cast<const char*>(piece.data()), piece.size()});
    at += piece.size();
  }
  return FileEntry{file.name, to.size(), hasher.finish()};
}

std::optional<SlotHeader> read_header(int fd) {
  SlotHeader header;
  const auto got = read_at(fd, std::as_writable_bytes(std::span(&header, 1)), 0, "");
  if (!got || *got != sizeof header || header.magic != slot_magic) return std::nullopt;
  return header;
}

}  // namespace

StateSlot::StateSlot(StateSlot&& other) noexcept
    : memory_(std::move(other.memory_)),
      name_(std::move(other.name_)),
      bytes_(std::exchange(other.bytes_, {})),
      compared_(other.compared_) {}

StateSlot::~StateSlot() { unmap(); }

void StateSlot::unmap() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
}

std::optional<SlotClaim> StateSlot::claim() const {
  const auto header = read_header(memory_.get());
  if (!header || header->complete != 1) return std::nullopt;
  return SlotClaim{header->step, header->takings};
}

Status StateSlot::take() {
  auto header = read_header(memory_.get());
  if (!header) return fail(ErrorKind::corrupt, "is empty", name_);
  ++header->takings;
  if (::pwrite(memory_.get(), &*header, sizeof *header, 0) == sizeof *header) return {};
  return fail_errno(errno, "mark what is in memory as taken", name_);
}

void StateSlot::clear() {
  unmap();
  compared_ = false;
  (void)!::ftruncate(memory_.get(), 0);
}

std::uint64_t StateSlot::allocated() const {
  struct stat info {};
  constexpr std::uint64_t unit = 512;  // of st_blocks, whatever the file system's is
  return ::fstat(memory_.get(), &info) == 0 ? unit * static_cast<std::uint64_t>(info.st_blocks) : 0;
}

Status StateSlot::grow(std::uint64_t bytes) {
  if (bytes_.size() >= bytes) return {};
  unmap();
  struct stat info {};
  if (::fstat(memory_.get(), &info) != 0) return fail_errno(errno, "look at the memory", name_);
  const std::uint64_t size =
      std::max<std::uint64_t>(bytes, static_cast<std::uint64_t>(info.st_size));
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t piece = std::min(allocate_bytes, size - at);
    if (::fallocate(memory_.get(), 0, static_cast<off_t>(at), static_cast<off_t>(piece)) == 0) {
      at += piece;
    } else if (errno != EINTR) {
      Error error = fail_errno(errno, fmt::format("take {} of memory", human_bytes(size)), name_,
                               "free memory on this machine")
                        .value();
      error.kind = ErrorKind::transient;
      return tl::unexpected<Error>(std::move(error));
    }
  }
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (memory == MAP_FAILED) return fail_errno(errno, "map the memory", name_);
  bytes_ = {static_cast<std::byte*>(memory), size};
  return {};
}

Status StateSlot::reserve(const Contents& contents) {
  auto bytes = slot_bytes(contents);
  if (!bytes) return propagate(bytes);
  return grow(*bytes);
}

Status StateSlot::write(const Contents& contents) {
  auto streamed = as_streamed(contents);
  if (!streamed) return propagate(streamed);
  auto planned = plan(*streamed, name_);
  if (!planned) return propagate(planned);
  if (auto ok = grow(planned->bytes); !ok) return ok;
  auto& header = *reinterpret_cast<SlotHeader*>(bytes_.data());
  compared_ = false;
  const std::atomic_ref<std::uint32_t> complete(header.complete);
  complete.store(0);
  Manifest manifest{
      contents.state.step, contents.state.tokens, contents.state.loss, now().wall.ms, {}};
  std::uint64_t at = planned->files_at;
  for (const ImageFile& file : planned->image.files) {
    auto entry = copy(file, bytes_.subspan(at, file.source.size));
    if (!entry) return propagate(entry);
    manifest.files.push_back(std::move(*entry));
    at += round_to_pages(file.source.size);
  }
  const std::string text = encode(manifest);
  if (page_bytes + text.size() > planned->files_at) {
    return fail(ErrorKind::permanent, "its manifest is longer than was planned", name_);
  }
  std::memcpy(bytes_.data() + page_bytes, text.data(), text.size());
  header.magic = slot_magic;
  header.version = slot_version;
  header.manifest_bytes = text.size();
  header.files_at = planned->files_at;
  header.step = contents.state.step;
  header.takings = 0;
  complete.store(1);
  return {};
}

Result<std::uint64_t> slot_bytes(const Contents& contents) {
  auto streamed = as_streamed(contents);
  if (!streamed) return propagate(streamed);
  auto planned = plan(*streamed, "state in memory");
  if (!planned) return propagate(planned);
  return planned->bytes + spare_bytes;
}

}  // namespace trainward::checkpoint
