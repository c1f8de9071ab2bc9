// Byte-level byte-pair encoding, as a tokenizer.json describes it.
//
// Text is cut at its added tokens, the parts between are normalised (normalizer.hpp), cut at the
// added tokens that ask for that, then into pieces (pre_tokenizer.hpp), and every piece is merged
// from its bytes (merger.hpp). Special tokens are found in documents, as Hugging Face's library
// does unless told otherwise. Bytes that are no UTF-8 form pieces of their own, a run at a time, so
// decode(encode(text)) is the text whenever every byte has a token, nothing normalises, removes or
// adds anything, and no added token strips. Memory: with a normalizer a copy of the text where it
// changes.
#pragma once

#include <array>
#include <unordered_map>

#include "trainer/tokenizer/bpe/merger.hpp"
#include "trainer/tokenizer/bpe/piece_cache.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

class BpeTokenizer final : public Tokenizer {
 public:
  // Reads `path`. `end_of_text` empty: the one of the usual names that the file has as an added
  // token. Errors: those of parse_tokenizer, with the path; permanent, when it cannot be read;
  // usage, when no token is called so.
  static Result<std::unique_ptr<Tokenizer>> open(const std::string& path,
                                                 const std::string& end_of_text = {});
  static Result<std::unique_ptr<Tokenizer>> make(TokenizerFile file, std::string name,
                                                 const std::string& end_of_text = {});

  Status encode_watched(std::string_view text, std::vector<TokenId>& out,
                        const Watch& watch) override;
  [[nodiscard]] Result<std::string> decode(std::span<const TokenId> ids) const override;
  [[nodiscard]] std::int64_t vocabulary() const override { return vocabulary_; }
  [[nodiscard]] TokenId end_of_text() const override { return end_of_text_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& digest() const override { return digest_; }

 private:
  BpeTokenizer(TokenizerFile file, PreTokenizer pre_tokenizer, std::string name, TokenId end);

  Status encode_valid(std::string_view text, const AddedTokens& added, const AddedTokens* then,
                      std::vector<TokenId>& out);
  Status encode_piece(std::string_view piece, std::vector<TokenId>& out);
  Status report();

  std::int64_t vocabulary_;
  TokenId end_of_text_;
  std::string name_;
  std::string digest_;
  std::array<TokenId, 256> byte_tokens_{};          // -1: none
  std::vector<std::optional<std::string>> texts_;   // by id, what it decodes to
  std::unordered_map<std::string, TokenId> whole_;  // with ignore_merges: pieces that stay whole
  PairTable merges_;
  AddedTokens added_;
  AddedTokens added_normalized_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Merger merger_;
  PieceCache cache_;
  std::vector<TokenId> bytes_;  // scratch: a piece's bytes as tokens
  // Of the text that is being encoded.
  std::uint64_t bytes_done_ = 0;
  std::uint64_t bytes_in_all_ = 0;
  std::uint64_t next_report_ = 0;
  const Watch* watch_ = nullptr;
};

}  // namespace trainward::trainer
