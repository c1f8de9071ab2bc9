// Text to token ids and back.
//
// In: bytes of text, valid UTF-8 or not. Out: ids from 0 to vocabulary() - 1, appended. encode()
// keeps scratch memory and a bounded cache between calls, so an object belongs to one thread; the
// ids depend on nothing but the text.
//
// encode() gives the tokens of the text alone. What the tokenizer's files put around a text (BOS,
// EOS) is before_text() and after_text(), for the caller to add where an example begins and ends;
// digest() does not count them.
//
// Where a text is encoded in parts, the options say what stands before the part, since some
// vocabularies (Llama 2's) begin every text with a space that it does not have, and take it away
// again when they decode: encode(a) + encode(b, {.begins = false}) decodes to a + b.
//
// decode() gives the bytes that the tokens stand for, which may end inside a character; bytes that
// were no UTF-8 come back as they were. Who shows tokens one by one uses a StreamDecoder
// (stream_decoder.hpp), which holds incomplete characters back.
//
// Errors of encode(): corrupt, always, since the error is about this text (or the watch's): it
// holds a byte for which the vocabulary has no token, runs on for more than 16 MiB with nothing to
// cut it at, or takes a pattern of the tokenizer more steps than are allowed. `out` is then as long
// as it was. Errors of decode(): usage, when an id has no token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::trainer {

using TokenId = std::int32_t;

// Every id is below this; files that name larger ones are refused.
inline constexpr std::int64_t max_vocabulary = std::int64_t{1} << 22;

struct EncodeOptions {
  // Nothing stands before the text.
  bool begins = true;
  // Added tokens, special or not, are looked for in it. Without, it is text of strangers: no added
  // token comes out of it but the one for unknown characters, and those of a single character.
  bool special = true;
  // Where the text does not begin: an added token stands right before it. Some vocabularies treat
  // that as a beginning.
  bool after_token = false;
};

struct DecodeOptions {
  // Nothing stands before the tokens.
  bool begins = true;
  // Special tokens are written out; without, they are left out.
  bool special = true;
};

class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  Tokenizer(Tokenizer&&) = delete;
  Tokenizer& operator=(Tokenizer&&) = delete;
  virtual ~Tokenizer() = default;

  Status encode(std::string_view text, std::vector<TokenId>& out,
                const EncodeOptions& options = {}) {
    return encode_part(text, options, out, {});
  }
  // `watch` hears about every MiB of a long text how many of its bytes are done; an error that it
  // returns ends the work. May be empty.
  using Watch = std::function<Status(std::uint64_t bytes_done)>;
  Status encode_watched(std::string_view text, std::vector<TokenId>& out, const Watch& watch) {
    return encode_part(text, {}, out, watch);
  }
  [[nodiscard]] Result<std::string> decode(std::span<const TokenId> ids,
                                           const DecodeOptions& options = {}) const {
    return decode_part(ids, options);
  }

  // The token whose text is exactly this, as the files write it: an added one, or else one of the
  // vocabulary. Looks through all of them: ask once.
  [[nodiscard]] virtual std::optional<TokenId> find_token(std::string_view content) const = 0;
  // What belongs around a text, as the post-processor and tokenizer_config.json say; often empty.
  [[nodiscard]] virtual std::vector<TokenId> before_text() const { return {}; }
  [[nodiscard]] virtual std::vector<TokenId> after_text() const { return {}; }

  // The largest id plus one.
  [[nodiscard]] virtual std::int64_t vocabulary() const = 0;
  // Goes between two documents.
  [[nodiscard]] virtual TokenId end_of_text() const = 0;
  // For people: "byte", or the path it was read from.
  [[nodiscard]] virtual const std::string& name() const = 0;
  // SHA-256 of everything that decides the ids, in hexadecimal; the layout of the file does not
  // count.
  [[nodiscard]] virtual const std::string& digest() const = 0;

 private:
  virtual Status encode_part(std::string_view text, const EncodeOptions& options,
                             std::vector<TokenId>& out, const Watch& watch) = 0;
  [[nodiscard]] virtual Result<std::string> decode_part(std::span<const TokenId> ids,
                                                        const DecodeOptions& options) const = 0;
};

// `name` is "byte" or the path of a tokenizer.json; `end_of_text` the text of the token that ends a
// document, empty for the one the file is known by (bpe_tokenizer.hpp).
Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& name,
                                                  const std::string& end_of_text = {});

}  // namespace trainward::trainer
