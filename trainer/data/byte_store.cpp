#include "trainer/data/byte_store.hpp"

#include <algorithm>

#include "common/base/digest.hpp"
#include "common/base/text.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {

ByteStore::ByteStore(std::uint64_t expected_bytes, std::uint64_t max_bytes)
    : max_bytes_(max_bytes) {
  text_.reserve(std::min(expected_bytes, max_bytes));
}

Status ByteStore::add_document(std::string_view text, const Tokenizer::Watch& /*watch*/) {
  if (text_.size() + text.size() + 1 > max_bytes_) {
    return fail(ErrorKind::usage,
                fmt::format("there is more than {} of text", human_bytes(max_bytes_)), "",
                "name fewer files or folders under data");
  }
  if (any_) {
    document_ends_.push_back(text_.size());
    text_ += '\0';
  }
  any_ = true;
  text_ += text;
  return {};
}

std::string ByteStore::digest() const {
  Sha256 hash;
  hash.update(text_);
  for (const std::uint64_t end : document_ends_) hash.update(fmt::format("\n{}", end));
  return hash.finish();
}

Status ByteStore::copy(std::int64_t from, std::span<TokenId> out) const {
  const auto begin = static_cast<std::size_t>(from);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<unsigned char>(text_[begin + i]);
  }
  for (auto end = std::lower_bound(document_ends_.begin(), document_ends_.end(), begin);
       end != document_ends_.end() && *end < begin + out.size(); ++end) {
    out[*end - begin] = ByteTokenizer::end;
  }
  return {};
}

}  // namespace trainward::trainer
