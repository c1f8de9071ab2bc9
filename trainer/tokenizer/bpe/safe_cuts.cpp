#include "trainer/tokenizer/bpe/safe_cuts.hpp"

#include <algorithm>

#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

constexpr std::string_view mark = "\u2581";

}  // namespace

SafeCuts::SafeCuts(const TokenizerFile& file) {
  // A piece that is one token stays whole there, so its length decides.
  if (file.spelling != Spelling::characters || file.ignore_merges) return;
  const auto token = [&](TokenId id) -> std::string_view {
    return *file.tokens[static_cast<std::size_t>(id)];
  };
  for (const MergeRule& rule : file.merges) {
    // What a byte or something unknown is merged with does not show in the text of its token.
    for (const TokenId side : {rule.left, rule.right}) {
      if (side == file.unknown || byte_of_name(token(side))) return;
    }
    if (!token(rule.right).starts_with(mark)) continue;
    const std::string_view left = token(rule.left);
    joined_.push_back(utf8_code_point(left.substr(last_character(left))));
  }
  std::sort(joined_.begin(), joined_.end());
  joined_.erase(std::unique(joined_.begin(), joined_.end()), joined_.end());
  // Where it is unknown itself, it may be fused with what stands before it.
  possible_ = std::find(file.tokens.begin(), file.tokens.end(), mark) != file.tokens.end();
}

std::size_t SafeCuts::first_part(std::string_view piece) const {
  if (!possible_) return piece.size();
  for (std::size_t at = piece.find(mark, 1); at != std::string_view::npos;
       at = piece.find(mark, at + 1)) {
    const std::string_view before = piece.substr(0, at);
    const char32_t last = utf8_code_point(before.substr(last_character(before)));
    if (!std::binary_search(joined_.begin(), joined_.end(), last)) return at;
  }
  return piece.size();
}

}  // namespace trainward::trainer
