#include "trainer/tokenizer/stream_decoder.hpp"

#include <span>
#include <utility>

#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {

Result<std::string> StreamDecoder::put(TokenId id) {
  const std::span<const TokenId> ids(&id, 1);
  auto bytes = tokenizer_->decode(ids, options_);
  if (!bytes) return propagate(bytes);
  if (options_.begins) {
    // A space that is taken away at the beginning is something, too.
    DecodeOptions within = options_;
    within.begins = false;
    auto whole = tokenizer_->decode(ids, within);
    if (!whole) return propagate(whole);
    options_.begins = whole->empty();
  }
  std::string text = std::exchange(held_, {}) + *bytes;
  const std::size_t tail = utf8_incomplete_tail(text);
  held_ = text.substr(text.size() - tail);
  text.resize(text.size() - tail);
  return valid_utf8(std::move(text));
}

std::string StreamDecoder::finish() { return valid_utf8(std::exchange(held_, {})); }

}  // namespace trainward::trainer
