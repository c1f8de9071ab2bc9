// tokenizer.json of Hugging Face's tokenizers library, as far as byte-level BPE goes.
//
// In: the text of the file, at most 64 MiB. Out: plain values. Strict: what would change the tokens
// and is not done here is refused by name, and so is every key that is not known; nothing is passed
// over. Taken:
//   model           BPE: vocab, merges ("a b" or ["a", "b"]), ignore_merges; no dropout, prefix,
//                   suffix or byte_fallback; unk_token only where every byte has a token
//   pre_tokenizer   ByteLevel, or a Sequence that ends with it, of Split, Digits, ByteLevel
//   added_tokens    special, lstrip, rstrip, normalized; not single_word
//   normalizer      NFC, NFD, NFKC, NFKD, Lowercase, a Sequence of these, or none
//   decoder         ByteLevel, or none
//   post_processor  those that only add tokens around a text (which is not done: documents are
//                   parted by the end-of-text token alone) or move offsets
// Errors: corrupt, when it is no JSON or contradicts itself; usage, when it is something else than
// the above. Each names the key by its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json.hpp"
#include "trainer/tokenizer/bpe/added_tokens.hpp"
#include "trainer/tokenizer/bpe/pair_table.hpp"
#include "trainer/tokenizer/text/normalizer.hpp"
#include "trainer/tokenizer/text/pre_tokenizer.hpp"

namespace trainward::trainer {

inline constexpr std::size_t max_tokenizer_bytes = std::size_t{64} << 20U;

struct TokenizerFile {
  // By id; as the file writes them. Ids may be left out.
  std::vector<std::optional<std::string>> tokens;
  std::vector<MergeRule> merges;
  bool ignore_merges = false;  // a piece that is a token stays whole
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerRule> rules;

  // Largest id plus one, added tokens included.
  [[nodiscard]] std::int64_t vocabulary() const;
};

Result<TokenizerFile> parse_tokenizer(std::string_view text);

// The parts, for parse_tokenizer.
Status read_normalizer(const json::value& value, TokenizerFile& file);
Status read_model(const json::object& model, TokenizerFile& file);
Status read_pre_tokenizer(const json::value& value, TokenizerFile& file);
Status read_added_tokens(const json::value& value, TokenizerFile& file);

}  // namespace trainward::trainer
