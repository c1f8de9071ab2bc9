// Tokens that are found in the text before anything else is done with it.
//
// In: their texts, and text to look through. Out: the first place at which one begins, and the
// longest of those that begin there. With `lstrip` or `rstrip` a token takes the white space before
// or after it along. With `single_word` it counts only where no letter, digit, mark or underscore
// touches it; where one does, the search continues after it. Immutable once built; any number of
// threads may look. A search takes at most text × longest token steps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/tokenizer/text/pattern.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool special = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;   // looked for only where no other one was found
  bool single_word = false;  // not as a part of a word

  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

class AddedTokens {
 public:
  struct Found {
    Span span;
    TokenId id = 0;
  };

  // Contents are different from each other and not empty.
  explicit AddedTokens(const std::vector<AddedToken>& tokens);

  // In text[from..]; what lies before `from` is used up and not stripped.
  [[nodiscard]] std::optional<Found> find(std::string_view text, std::size_t from) const;
  [[nodiscard]] bool empty() const { return tokens_.empty(); }

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> next;  // by byte
    std::int32_t token = -1;                                    // ends here
  };

  [[nodiscard]] std::int32_t longest_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_{1};
  std::array<bool, 256> begins_{};
};

}  // namespace trainward::trainer
