// The training text, as blocks of byte tokens.
//
// In: files and folders. Every regular file is one document (which files, in which order:
// file_walk.hpp; folders in the order given; a file reached from two of them counts once). Tokens
// are the bytes 0..255, with the end-of-text token 256 between two documents; empty files add
// nothing. The stream is cut into blocks of block_size tokens without padding: a document may go on
// in the next block, and what is left at the end, less than a block, is not used.
//
// Memory: one byte a token plus eight a document, at most `max_bytes` of text (2 GiB unless told
// otherwise), and the largest file once more while reading; a longer corpus is an error, not a
// process that grows. Immutable once read: any number of
// threads may look.
//
// Errors: usage, when a path is missing, holds no text at all, or there is less than one block, or
// more than max_bytes; permanent, when nothing of a path could be read. Each names the path.
// A file that cannot be read beside others that can is counted in unread(), and is no error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "trainer/data/file_walk.hpp"

namespace trainward::trainer {

inline constexpr std::int32_t end_of_text = 256;
inline constexpr std::uint64_t default_max_corpus_bytes = std::uint64_t{2} << 30;

class Corpus {
 public:
  static Result<Corpus> read(std::span<const std::string> paths, std::int64_t block_size,
                             std::uint64_t max_bytes = default_max_corpus_bytes);

  [[nodiscard]] std::int64_t tokens() const { return static_cast<std::int64_t>(text_.size()); }
  [[nodiscard]] std::int64_t documents() const { return documents_; }
  [[nodiscard]] std::int64_t block_size() const { return block_size_; }
  [[nodiscard]] std::int64_t blocks() const { return tokens() / block_size_; }
  [[nodiscard]] const std::vector<Unread>& unread() const { return unread_; }

  // SHA-256 of the tokens: tells a resumed run whether it reads what the first attempt read.
  [[nodiscard]] std::string digest() const;

  // Writes block `index` (0 .. blocks()-1) into `out`, which holds block_size() tokens.
  void copy_block(std::int64_t index, std::span<std::int32_t> out) const;

 private:
  Corpus() = default;
  void make_room(const std::vector<FoundFile>& files, std::uint64_t max_bytes);
  void append(std::string_view document);

  std::string text_;                          // one byte a token; a zero byte where a document ends
  std::vector<std::uint64_t> document_ends_;  // positions of the end-of-text tokens, ascending
  std::int64_t documents_ = 0;
  std::int64_t block_size_ = 0;
  std::vector<Unread> unread_;
};

}  // namespace trainward::trainer
