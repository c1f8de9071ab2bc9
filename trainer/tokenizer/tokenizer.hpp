// Text to token ids and back.
//
// In: bytes of text, valid UTF-8 or not. Out: ids from 0 to vocabulary() - 1, appended. encode()
// keeps scratch memory and a bounded cache between calls, so an object belongs to one thread; the
// ids depend on nothing but the text.
//
// Errors of encode(): corrupt, always, for it is about this text (or the watch's): it holds a byte
// for which the vocabulary has no token, goes on for more than 16 MiB with nothing to cut it at, or
// takes a pattern of the tokenizer more steps than are allowed. `out` is then as long as it was.
// Errors of decode(): usage, when an id has no token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::trainer {

using TokenId = std::int32_t;

// Every id is below this; files that name larger ones are refused.
inline constexpr std::int64_t max_vocabulary = std::int64_t{1} << 22;

class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  Tokenizer(Tokenizer&&) = delete;
  Tokenizer& operator=(Tokenizer&&) = delete;
  virtual ~Tokenizer() = default;

  Status encode(std::string_view text, std::vector<TokenId>& out) {
    return encode_watched(text, out, {});
  }
  // `watch` hears about every MiB of a long text how many of its bytes are done; an error that it
  // returns ends the work. May be empty.
  using Watch = std::function<Status(std::uint64_t bytes_done)>;
  virtual Status encode_watched(std::string_view text, std::vector<TokenId>& out,
                                const Watch& watch) = 0;
  [[nodiscard]] virtual Result<std::string> decode(std::span<const TokenId> ids) const = 0;

  // The largest id plus one.
  [[nodiscard]] virtual std::int64_t vocabulary() const = 0;
  // Goes between two documents.
  [[nodiscard]] virtual TokenId end_of_text() const = 0;
  // For people: "byte", or the path it was read from.
  [[nodiscard]] virtual const std::string& name() const = 0;
  // SHA-256 of everything that decides the ids, in hexadecimal; the layout of the file does not
  // count.
  [[nodiscard]] virtual const std::string& digest() const = 0;
};

// `name` is "byte" or the path of a tokenizer.json; `end_of_text` the text of the token that ends a
// document, empty for the one the file is known by (bpe_tokenizer.hpp).
Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& name,
                                                  const std::string& end_of_text = {});

}  // namespace trainward::trainer
