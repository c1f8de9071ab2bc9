// A data file read as text from its beginning to its end, unpacked on the way.
//
// In: a regular file; gzip and zstd are known by their first bytes, whatever the name. Out: its
// bytes, in order. Memory: half a MiB and the unpacker's window. Errors: what opening and reading
// say (permanent, transient); usage, with the file, where a packed stream is cut short or damaged,
// or the file is data in another form (content.hpp): training on a part of it by
// accident must not happen; corrupt, where it is not text at all and may just lie there. One
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "trainer/data/text/unpacker.hpp"

namespace trainward::trainer {

class TextFile {
 public:
  static Result<TextFile> open(const std::filesystem::path& path);

  // The first bytes of the text, whatever was read since; all of it when they are fewer than
  // content_head_bytes.
  [[nodiscard]] std::string_view head() const { return head_; }
  [[nodiscard]] bool packed() const { return unpacker_ != nullptr; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Fills `into`; fewer bytes only at the end.
  Result<std::size_t> read(std::span<std::byte> into);
  // What has not been read yet; corrupt where that is more than max_bytes. `expected` of them save
  // growing in between.
  Result<std::string> read_to_end(std::uint64_t max_bytes, std::uint64_t expected);
  // Of the file as it lies on the disk.
  [[nodiscard]] std::uint64_t bytes_taken() const { return taken_; }

 private:
  TextFile(std::filesystem::path path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status look_at_head();
  Result<std::size_t> read_on(std::span<std::byte> into);
  Result<std::size_t> unpack(std::span<std::byte> into);
  Result<bool> refill();
  [[nodiscard]] tl::unexpected<Error> broken(std::string_view why) const;

  std::filesystem::path path_;
  Fd fd_;
  std::string head_;
  std::size_t head_done_ = 0;
  std::uint64_t taken_ = 0;
  std::unique_ptr<Unpacker> unpacker_;  // nullptr: it is not packed
  Packing packing_ = Packing::none;
  std::string packed_;  // what was read and not unpacked yet begins at packed_done_
  std::size_t packed_done_ = 0;
  bool whole_ = false;  // the last stream is
};

}  // namespace trainward::trainer
