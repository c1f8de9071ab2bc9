// Bytes at rest that a parser reads from.
//
// In: a position and a span to fill. Out: exactly those bytes. A request beyond the end is of kind
// corrupt and names the byte where the data ends; a disk that cannot be read is not corruption.
// Parsers keep no pointer into a source, so a file may be larger than memory. A source may be read
// from several threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "common/base/error.hpp"

namespace trainward::checkpoint::pytorch {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  [[nodiscard]] virtual const std::string& where() const = 0;  // for errors
  [[nodiscard]] virtual Status read(std::uint64_t at, std::span<std::byte> into) const = 0;
};

using SharedSource = std::shared_ptr<const ByteSource>;

// A regular file; anything else (a folder, a pipe) is refused with kind usage.
Result<SharedSource> open_source(const std::filesystem::path& file);

// An error of kind corrupt: "WHERE: byte AT: WHAT".
tl::unexpected<Error> corrupt_at(const ByteSource& source, std::uint64_t at, std::string_view what,
                                 std::string hint = {});

// Walks forward through [begin, end) of a source with a small buffer.
class Cursor {
 public:
  Cursor(const ByteSource& source, std::uint64_t begin, std::uint64_t end)
      : source_(source), at_(begin), end_(end) {}

  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t left() const { return end_ - at_; }

  // `what` names the thing that is being read, for the error when there is not enough left.
  Result<std::uint8_t> byte(std::string_view what);
  Result<std::uint64_t> little_endian(unsigned bytes, std::string_view what);
  Result<std::string> text(std::uint64_t bytes, std::string_view what);
  // Up to a line feed, which is consumed and not part of the result.
  Result<std::string> line(std::size_t longest, std::string_view what);

 private:
  Status fill(std::string_view what);

  const ByteSource& source_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::array<std::byte, 16384> buffer_{};
  std::uint64_t buffer_at_ = 0;
  std::size_t buffered_ = 0;
};

}  // namespace trainward::checkpoint::pytorch
