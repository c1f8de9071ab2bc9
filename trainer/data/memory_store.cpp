#include "trainer/data/memory_store.hpp"

#include <algorithm>

#include "common/base/digest.hpp"
#include "common/base/text.hpp"
#include "trainer/data/token_file.hpp"
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

namespace {

constexpr std::size_t piece_tokens = std::size_t{1} << 21U;
// A document that was unusually long need not stay in memory twice.
constexpr std::size_t kept_scratch = std::size_t{1} << 22U;

}  // namespace

TokenBuffer::TokenBuffer(Tokenizer& tokenizer, std::uint64_t max_bytes)
    : tokenizer_(&tokenizer),
      tokenizer_digest_(tokenizer.digest()),
      end_of_text_(tokenizer.end_of_text()),
      max_bytes_(max_bytes),
      width_(token_width(tokenizer.vocabulary())) {
  if (width_ == 4) pieces_.emplace<Pieces<std::uint32_t>>();
}

Status TokenBuffer::add_document(std::string_view text, const Tokenizer::Watch& watch) {
  document_.clear();
  if (any_) document_.push_back(end_of_text_);
  if (auto ok = tokenizer_->encode_watched(text, document_, watch); !ok) return ok;
  if ((static_cast<std::uint64_t>(tokens_) + document_.size()) * width_ > max_bytes_) {
    return fail(ErrorKind::usage,
                fmt::format("there is more than {} of tokens", human_bytes(max_bytes_)), "",
                "make a .bin file of the data with trainward-worker tokenize and name that");
  }
  push(document_);
  any_ = true;
  if (document_.capacity() > kept_scratch) std::vector<TokenId>().swap(document_);
  return {};
}

void TokenBuffer::push(std::span<const TokenId> tokens) {
  tokens_ += static_cast<std::int64_t>(tokens.size());
  std::visit(
      [&](auto& pieces) {
        using Element = typename std::decay_t<decltype(pieces)>::value_type::value_type;
        while (!tokens.empty()) {
          if (pieces.empty() || pieces.back().size() == piece_tokens) {
            pieces.emplace_back().reserve(piece_tokens);
          }
          const std::size_t taken = std::min(tokens.size(), piece_tokens - pieces.back().size());
          for (const TokenId token : tokens.first(taken)) {
            pieces.back().push_back(static_cast<Element>(token));
          }
          tokens = tokens.subspan(taken);
        }
      },
      pieces_);
}

std::string TokenBuffer::digest() const {
  Sha256 hash;
  hash.update(fmt::format("trainward tokens 1\n{}\n", tokenizer_digest_));
  std::visit(
      [&](const auto& pieces) {
        for (const auto& piece : pieces) {
          const auto bytes = std::as_bytes(std::span(piece));
          hash.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        }
      },
      pieces_);
  return hash.finish();
}

Status TokenBuffer::copy(std::int64_t from, std::span<TokenId> out) const {
  std::visit(
      [&](const auto& pieces) {
        auto at = static_cast<std::size_t>(from);
        for (TokenId& token : out) {
          token = static_cast<TokenId>(pieces[at / piece_tokens][at % piece_tokens]);
          ++at;
        }
      },
      pieces_);
  return {};
}

}  // namespace trainward::trainer
