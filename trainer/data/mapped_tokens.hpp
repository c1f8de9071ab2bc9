// Tokens that lie in files, mapped into memory.
//
// In: token files, with our header (token_file.hpp) or without any: raw little-endian ids of two or
// four bytes, as nanoGPT's and llm.c's scripts write them (the 1024 bytes that llm.c puts first are
// passed over). Out: their tokens in the order given. Between two files of ours stands end of text;
// raw ones follow each other as they are, since the end of a document is unknown there.
//
// Opening reads the headers only, and all of a raw file, which has no digest of its own. Whether an
// id is inside the vocabulary is looked at whenever it is copied. Memory: none but the kernel's
// page cache. A file that is cut while it is in use shows when the next tokens are copied, since
// its size is asked for each time (permanent: it was cut, not damaged). Cut within that copy,
// SIGBUS ends the process, and the next one to open the file says what is wrong with it. Errors:
// those of parse_token_header; usage, when files do not go together or no vocabulary is known;
// corrupt, naming file and position, when an id is outside the vocabulary.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "common/os/fd.hpp"
#include "common/os/mapping.hpp"
#include "trainer/data/data_files.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/data/token_store.hpp"

namespace trainward::trainer {

class MappedTokens final : public TokenStore {
 public:
  // `expected` counts for raw files, which do not tell vocabulary and tokenizer.
  static Result<std::unique_ptr<MappedTokens>> open(const std::vector<DataFiles>& data,
                                                    DataFormat format, const TokenHeader& expected);

  [[nodiscard]] std::int64_t tokens() const override { return tokens_; }
  [[nodiscard]] std::string digest() const override;
  Status copy(std::int64_t from, std::span<TokenId> out) const override;

  // Vocabulary, end of text and tokenizer of all of them.
  [[nodiscard]] const TokenHeader& facts() const { return facts_; }
  // 0 if unknown.
  [[nodiscard]] std::int64_t documents() const { return documents_; }

  // Reads everything and compares it with the digests of the headers.
  [[nodiscard]] Status verify() const;

 private:
  struct Part {
    std::filesystem::path path;
    Fd fd;
    Mapping mapping;
    TokenHeader header;
    std::size_t first_byte = token_header_bytes;
    std::int64_t begin = 0;  // of its first token among all
  };

  MappedTokens() = default;
  Status add(const std::filesystem::path& path, DataFormat format, const TokenHeader& expected);
  Status read_raw(Part& part, DataFormat format, const TokenHeader& expected);
  static Status copy_part(const Part& part, std::uint64_t from, std::span<TokenId> out);

  std::vector<Part> parts_;
  TokenHeader facts_;
  bool raw_ = false;
  std::int64_t tokens_ = 0;
  std::int64_t documents_ = 0;
};

}  // namespace trainward::trainer
