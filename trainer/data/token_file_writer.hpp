// Writes a .bin file of tokens (token_file.hpp), piece by piece.
//
// The file appears under its name when it is whole and on the disk, or not at all: written beside
// it under a temporary name, which is removed when the writer goes before finish(); then fsync,
// rename, fsync of the folder. A file that is there already is never replaced. Errors: usage, when
// the name is taken or an id is outside the vocabulary; what the disk says. Memory: 1 MiB. One
// thread.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "common/base/digest.hpp"
#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "trainer/data/token_file.hpp"

namespace trainward::trainer {

class TokenFileWriter {
 public:
  // Of the header, tokens and their digest are found out; vocabulary, end_of_text and
  // tokenizer_digest are taken.
  static Result<TokenFileWriter> create(const std::filesystem::path& path, TokenHeader header);

  TokenFileWriter(TokenFileWriter&&) noexcept = default;
  TokenFileWriter& operator=(TokenFileWriter&&) = delete;
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;
  ~TokenFileWriter();

  // One document; the end-of-text token is put before every one but the first.
  Status add_document(std::span<const TokenId> tokens);
  [[nodiscard]] const TokenHeader& header() const { return header_; }

  Status finish();

 private:
  TokenFileWriter(std::filesystem::path path, std::filesystem::path temporary, Fd fd,
                  TokenHeader header);
  Status put(TokenId token);
  Status flush();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Fd fd_;
  TokenHeader header_;
  Sha256 digest_;
  std::string buffer_;
};

}  // namespace trainward::trainer
