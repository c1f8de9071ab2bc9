// tokenizer.json of Hugging Face's tokenizers library, as far as BPE goes.
//
// In: the text of the file, at most 64 MiB. Out: plain values. Strict: what would change the tokens
// and is not done here is refused by name, and so is every key that is not known; nothing is passed
// over. Vocabularies are spelt in bytes, as GPT-2's and Llama 3's, or in characters, as Llama 2's;
// the pre-tokenizer tells which. Taken:
//   model           BPE: vocab, merges ("a b" or ["a", "b"]), ignore_merges; no dropout, prefix or
//                   suffix. In characters: byte_fallback, unk_token, fuse_unk; in bytes unk_token
//                   only where every byte has a token
//   pre_tokenizer   of bytes: ByteLevel, or a Sequence that ends with it, of Split, Digits and
//                   ByteLevel. Of characters: none, Metaspace, or a Sequence of Split, Digits and
//                   Metaspace that has the latter
//   added_tokens    special, single_word, lstrip, rstrip, normalized
//   normalizer      NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace of a text, a Sequence of
//                   these, or none
//   decoder         of bytes: ByteLevel, or none. Of characters: Metaspace, or a Sequence of
//                   Replace, ByteFallback, Fuse and Strip in this order
//   post_processor  TemplateProcessing, BertProcessing, RobertaProcessing: what they add around a
//                   text; ByteLevel, which only moves offsets; a Sequence of these; or none
// Errors: corrupt, when it is no JSON or contradicts itself; usage, when it is something else than
// the above. Each names the key by its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/tokenizer/text/normalizer.hpp"
#include "trainer/tokenizer/text/pre_tokenizer.hpp"
#include "trainer/tokenizer/tokens/added_tokens.hpp"
#include "trainer/tokenizer/tokens/pair_table.hpp"

namespace trainward::trainer {

inline constexpr std::size_t max_tokenizer_bytes = std::size_t{64} << 20U;

enum class Spelling { bytes, characters };

// How tokens become text again; of vocabularies in characters.
struct DecoderRule {
  std::vector<Replace> replace;  // in every token
  bool byte_fallback = false;    // a token like <0x0A> is a byte
  bool strip = false;            // a space in front of the whole text goes away
};

struct TokenizerFile {
  Spelling spelling = Spelling::bytes;
  // By id; as the file writes them. Ids may be left out.
  std::vector<std::optional<std::string>> tokens;
  std::vector<MergeRule> merges;
  bool ignore_merges = false;  // a piece that is a token stays whole
  // Of vocabularies in characters: what becomes of one that is no token.
  bool byte_fallback = false;      // its bytes as tokens like <0x0A>, where there are all of them
  std::optional<TokenId> unknown;  // else this one
  bool fuse_unknown = false;       // which stands for a run of them
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerRule> rules;
  DecoderRule decoder;
  // Around a text.
  std::vector<TokenId> before;
  std::vector<TokenId> after;

  // Largest id plus one, added tokens included.
  [[nodiscard]] std::int64_t vocabulary() const;
  // The token that is written exactly so, an added one or another.
  [[nodiscard]] std::optional<TokenId> find(std::string_view content) const;
};

Result<TokenizerFile> parse_tokenizer(std::string_view text);

// The byte that a token like <0x0A> stands for.
std::optional<unsigned char> byte_of_name(std::string_view token);

// The parts, for parse_tokenizer, in the order in which they need each other.
Status read_normalizer(const json::value& value, TokenizerFile& file);
Status read_pre_tokenizer(const json::value& value, TokenizerFile& file);
Status read_decoder(const json::value& value, TokenizerFile& file);
Status read_model(const json::object& model, TokenizerFile& file);
Status read_added_tokens(const json::value& value, TokenizerFile& file);
Status read_post_processor(const json::value& value, TokenizerFile& file);

// A step that replaces a text, of a normalizer or a decoder.
Status read_replace(const json::object& object, const std::string& where, Replace& rule);

}  // namespace trainward::trainer
