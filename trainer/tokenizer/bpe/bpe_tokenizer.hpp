// Byte-pair encoding, of bytes or of characters, as a tokenizer.json describes it.
//
// Text is cut at its added tokens, the parts between are normalised (normalizer.hpp), cut at the
// added tokens that ask for that, then into pieces (pre_tokenizer.hpp), and every piece is merged
// (merger.hpp) from its bytes or characters (symbols.hpp). Special tokens are found in documents,
// as Hugging Face's library does unless told otherwise. Bytes that are no UTF-8 form pieces of
// their own, a run at a time, so decode(encode(text)) is the text whenever every byte has a token,
// nothing normalises, removes or adds anything but the space in front that decoding takes away, and
// no added token strips. Memory: with a normalizer a copy of the text where it changes.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "trainer/tokenizer/bpe/merger.hpp"
#include "trainer/tokenizer/bpe/piece_cache.hpp"
#include "trainer/tokenizer/bpe/safe_cuts.hpp"
#include "trainer/tokenizer/bpe/symbols.hpp"
#include "trainer/tokenizer/bpe/token_texts.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

class BpeTokenizer final : public Tokenizer {
 public:
  // Reads `path`, and the tokenizer_config.json beside it where there is one. `end_of_text` empty:
  // the one of the usual names that the file has as an added token. Errors: those of
  // parse_tokenizer and tokenizer_config.hpp, with the path; permanent, when one cannot be read;
  // usage, when no token is called so.
  static Result<std::unique_ptr<Tokenizer>> open(const std::string& path,
                                                 const std::string& end_of_text = {});
  static Result<std::unique_ptr<Tokenizer>> make(TokenizerFile file, std::string name,
                                                 const std::string& end_of_text = {});

  [[nodiscard]] std::optional<TokenId> find_token(std::string_view content) const override {
    return texts_.find(content);
  }
  [[nodiscard]] std::vector<TokenId> before_text() const override { return before_; }
  [[nodiscard]] std::vector<TokenId> after_text() const override { return after_; }
  [[nodiscard]] std::int64_t vocabulary() const override { return vocabulary_; }
  [[nodiscard]] TokenId end_of_text() const override { return end_of_text_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& digest() const override { return digest_; }

 private:
  BpeTokenizer(TokenizerFile file, PreTokenizer pre_tokenizer, std::string name, TokenId end);

  Status encode_part(std::string_view text, const EncodeOptions& options, std::vector<TokenId>& out,
                     const Watch& watch) override;
  [[nodiscard]] Result<std::string> decode_part(std::span<const TokenId> ids,
                                                const DecodeOptions& options) const override;

  // One after the other: added tokens, normalizer, added tokens of what that made, pieces, parts.
  Status encode_valid(std::string_view text, Place place, std::vector<TokenId>& out);
  Status encode_normalized(std::string_view text, Place place, std::vector<TokenId>& out);
  Status encode_piece(std::string_view piece, std::vector<TokenId>& out);
  Status merge_part(std::string_view part, std::vector<TokenId>& out);
  Status report();

  std::int64_t vocabulary_;
  TokenId end_of_text_;
  std::string name_;
  std::string digest_;
  Spelling spelling_;
  std::vector<TokenId> before_;
  std::vector<TokenId> after_;
  TokenTexts texts_;
  std::unordered_map<std::string, TokenId> whole_;  // with ignore_merges: pieces that stay whole
  PairTable merges_;
  AddedTokens added_;
  AddedTokens added_normalized_;
  AddedTokens no_added_{{}};
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Symbols symbols_;
  SafeCuts cuts_;
  Merger merger_;
  // For text of strangers, where the vocabulary could make an added token of ordinary text: the
  // merges without those, and nothing is remembered.
  std::optional<PairTable> strict_merges_;
  std::optional<Merger> strict_merger_;
  PieceCache cache_;
  std::vector<TokenId> start_;  // scratch: a part before merging
  // Of the text that is being encoded.
  std::uint64_t bytes_done_ = 0;
  std::uint64_t bytes_in_all_ = 0;
  std::uint64_t next_report_ = 0;
  const Watch* watch_ = nullptr;
  bool special_ = true;
  bool strict_ = false;
};

}  // namespace trainward::trainer
