#include "trainer/data/text/text_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "common/os/file.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t packed_piece_bytes = std::size_t{256} << 10U;

std::span<std::byte> writable(std::string& text) { return std::as_writable_bytes(std::span(text)); }

}  // namespace

Result<TextFile> TextFile::open(const fs::path& path) {
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) return propagate(fd);
  TextFile file(path, std::move(*fd));
  if (auto ok = file.look_at_head(); !ok) return propagate(ok);
  return file;
}

Status TextFile::look_at_head() {
  head_.resize(content_head_bytes);
  auto got = read_at(fd_.get(), writable(head_), 0, path_);
  if (!got) return propagate(got);
  head_.resize(*got);
  taken_ = *got;
  packing_ = packing_of(head_);
  auto unpacker = make_unpacker(packing_);
  if (!unpacker) return propagate(unpacker);
  unpacker_ = std::move(*unpacker);
  if (unpacker_ != nullptr) {
    packed_ = std::exchange(head_, std::string(content_head_bytes, '\0'));
    auto unpacked = read_on(writable(head_));
    if (!unpacked) return propagate(unpacked);
    head_.resize(*unpacked);
  }
  if (const auto no = why_no_text(head_, unpacked_name(path_))) return refused(*no, path_);
  return {};
}

tl::unexpected<Error> TextFile::broken(std::string_view why) const {
  const std::string_view tool = packing_ == Packing::gzip ? "gzip" : "zstd";
  return fail(ErrorKind::usage, fmt::format("is not a complete {} file: {}", tool, why),
              path_.string(),
              fmt::format("fetch it again; `{} -t` tells whether it is whole", tool));
}

Result<bool> TextFile::refill() {
  packed_.resize(packed_piece_bytes);
  packed_done_ = 0;
  auto got = read_at(fd_.get(), writable(packed_), taken_, path_);
  packed_.resize(got ? *got : 0);
  if (!got) return propagate(got);
  taken_ += *got;
  return *got > 0;
}

// At least one byte, unless the file ends.
Result<std::size_t> TextFile::unpack(std::span<std::byte> into) {
  for (;;) {
    const auto left = std::as_bytes(std::span(packed_)).subspan(packed_done_);
    auto moved = unpacker_->unpack(left, into);
    if (!moved) return broken(moved.error().what);
    packed_done_ += moved->in;
    if (moved->in > 0 || moved->out > 0) whole_ = moved->whole;
    if (moved->out > 0) return moved->out;
    if (packed_done_ < packed_.size()) {
      if (moved->in == 0 && !left.empty()) return broken("it cannot be unpacked further");
      continue;
    }
    auto more = refill();
    if (!more) return propagate(more);
    if (!*more && whole_) return std::size_t{0};
    if (!*more) return broken("it is cut short");
  }
}

Result<std::size_t> TextFile::read_on(std::span<std::byte> into) {
  if (unpacker_ == nullptr) {
    auto got = read_at(fd_.get(), into, taken_, path_);
    if (got) taken_ += *got;
    return got;
  }
  std::size_t done = 0;
  while (done < into.size()) {
    auto got = unpack(into.subspan(done));
    if (!got) return propagate(got);
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

Result<std::size_t> TextFile::read(std::span<std::byte> into) {
  const auto known = std::as_bytes(std::span(head_)).subspan(head_done_);
  const std::size_t first = std::min(known.size(), into.size());
  std::ranges::copy(known.first(first), into.begin());
  head_done_ += first;
  if (first == into.size()) return first;
  auto rest = read_on(into.subspan(first));
  if (!rest) return propagate(rest);
  return first + *rest;
}

Result<std::string> TextFile::read_to_end(std::uint64_t max_bytes, std::uint64_t expected) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
  std::string text;
  text.reserve(std::min(expected, max_bytes) + piece_bytes);
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + piece_bytes);
    auto got = read(writable(text).subspan(before));
    if (!got) return propagate(got);
    text.resize(before + *got);
    if (text.size() > max_bytes) {
      return fail(ErrorKind::corrupt, fmt::format("is longer than {} bytes", max_bytes),
                  path_.string());
    }
    if (*got < piece_bytes) return text;
  }
}

}  // namespace trainward::trainer
