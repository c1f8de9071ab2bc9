// What is trained on, as blocks of tokens.
//
// In: files and folders: text and JSONL (document_reader.hpp), which are tokenized here and kept in
// memory, or token files (mapped_tokens.hpp), which stay on the disk; not both in one corpus. Which
// files, in which order: data_files.hpp; folders in the order given; a file reached from two of
// them counts once. End of text stands between two documents; empty files add nothing. The stream
// is cut into blocks of block_size tokens without padding: a document may continue in the next
// block, and what is left at the end, less than a block, is not used.
//
// Memory: for byte tokens one byte a token plus eight a document; for other vocabularies two or
// four bytes a token; at most `max_bytes` of either (2 GiB unless told otherwise), and the largest
// document once more, with its tokens, while reading; a longer corpus is an error, not a process
// that grows. Immutable once read: any number of threads may look.
//
// Errors: usage, when a path is missing, holds nothing to train on, there is less than one block,
// or more than max_bytes; permanent, when nothing of a path could be read. Each names the path. A
// file that cannot be read beside others that can is counted in unread(), a line that is no
// document in bad_lines(); they are no errors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/data/data_files.hpp"
#include "trainer/data/quarantine.hpp"
#include "trainer/data/token_store.hpp"

namespace trainward::trainer {

inline constexpr std::uint64_t default_max_corpus_bytes = std::uint64_t{2} << 30;

struct CorpusOptions {
  DataFormat format = DataFormat::automatic;
  Tokenizer* tokenizer = nullptr;  // nullptr: bytes. Borrowed while the corpus is read
  std::int64_t vocabulary = 0;  // of raw token files, when the tokenizer is not named; 0: unknown
  std::uint64_t max_bytes = default_max_corpus_bytes;
  std::function<Status(const BadLine&)> bad_line;  // may be empty
  // Bytes read and to read; an error ends the reading. May be empty.
  std::function<Status(std::uint64_t done, std::uint64_t total)> progress;
};

class Corpus {
 public:
  static Result<Corpus> read(std::span<const std::string> paths, std::int64_t block_size,
                             const CorpusOptions& options);
  // Of bytes.
  static Result<Corpus> read(std::span<const std::string> paths, std::int64_t block_size,
                             std::uint64_t max_bytes = default_max_corpus_bytes);

  [[nodiscard]] std::int64_t tokens() const { return store_->tokens(); }
  // 0 for raw token files.
  [[nodiscard]] std::int64_t documents() const { return documents_; }
  [[nodiscard]] std::int64_t block_size() const { return block_size_; }
  [[nodiscard]] std::int64_t blocks() const { return tokens() / block_size_; }
  [[nodiscard]] const std::vector<Unread>& unread() const { return unread_; }
  [[nodiscard]] std::int64_t bad_lines() const { return bad_lines_; }
  // "FILE:LINE: reason"
  [[nodiscard]] const std::string& first_bad_line() const { return first_bad_line_; }

  // Every token is below it.
  [[nodiscard]] std::int64_t vocabulary() const { return vocabulary_; }
  // Of what made the tokens; empty if unknown (raw token files).
  [[nodiscard]] const std::string& tokenizer_digest() const { return tokenizer_digest_; }

  // SHA-256 of the tokens and what made them: tells a resumed run whether it reads what the first
  // attempt read.
  [[nodiscard]] std::string digest() const { return store_->digest(); }

  // Writes block `index` (0 .. blocks()-1) into `out`, which holds block_size() tokens. Fails only
  // when the tokens lie in a file and that changed.
  Status copy_block(std::int64_t index, std::span<TokenId> out) const {
    return store_->copy(index * block_size_, out);
  }

 private:
  Corpus() = default;
  Status read_documents(const std::vector<DataFiles>& data, const CorpusOptions& options);
  Status map_tokens(const std::vector<DataFiles>& data, const CorpusOptions& options);
  [[nodiscard]] Status check_blocks(const std::string& path) const;

  std::unique_ptr<const TokenStore> store_;
  std::int64_t documents_ = 0;
  std::int64_t block_size_ = 0;
  std::int64_t vocabulary_ = 0;
  std::string tokenizer_digest_;
  std::vector<Unread> unread_;
  std::int64_t bad_lines_ = 0;
  std::string first_bad_line_;
};

}  // namespace trainward::trainer
