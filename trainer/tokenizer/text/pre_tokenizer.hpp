// Cuts text into the pieces that are merged one by one.
//
// In: rules, applied one after the other, each to every piece of the one before; and text, valid
// UTF-8. Out: the pieces, in order, through a callback; no empty ones. A rule sees nothing but its
// piece, so what it looks ahead to ends there.
//   SplitRule    a pattern finds matches; the behaviour says what becomes of them and of the gaps
//                between them. `invert`: matches and gaps change places.
//   PrefixSpace  a space before every piece that has none.
//   Metaspace    spaces become a visible character, which may be put in front as well; then the
//                piece is cut before each of them.
// What is put in front of a text depends on what stands before it: its Place. Pieces that a rule
// has cut from the middle of a text count as following a token, as in Hugging Face's library.
// Memory: a match at a time; text may be of any length. Errors: those of Pattern::find. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/tokenizer/text/pattern.hpp"

namespace trainward::trainer {

enum class SplitBehavior {
  removed,               // matches vanish
  isolated,              // matches and gaps are pieces of their own
  merged_with_previous,  // a match ends the gap before it
  merged_with_next,      // a match begins the gap after it
  contiguous,            // matches side by side are one piece
};

struct SplitRule {
  std::string pattern;
  bool literal = false;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;

  friend bool operator==(const SplitRule&, const SplitRule&) = default;
};

struct PrefixSpace {
  friend bool operator==(const PrefixSpace&, const PrefixSpace&) = default;
};

struct Metaspace {
  enum class Prepend {
    always,  // where the piece does not begin with it anyway, at the beginning or after a token
    first,   // at the beginning alone
    never,
  };
  std::string replacement = "\u2581";  // one character
  Prepend prepend = Prepend::always;
  bool split = true;

  friend bool operator==(const Metaspace&, const Metaspace&) = default;
};

using PreTokenizerRule = std::variant<SplitRule, PrefixSpace, Metaspace>;

// What stands before a text.
enum class Place {
  beginning,    // nothing
  after_token,  // an added token
  within,       // a continuation of text: nothing is put in front of it
};

// What GPT-2 splits by: contractions, words, numbers and punctuation with the space before them,
// white space.
extern const std::string_view gpt2_pattern;

class PreTokenizer {
 public:
  using Visit = std::function<Status(std::string_view piece)>;

  static Result<PreTokenizer> compile(const std::vector<PreTokenizerRule>& rules);

  // Stops at the first error, of a pattern or of `visit`.
  Status split(std::string_view text, Place place, const Visit& visit) {
    return apply(0, text, place, visit);
  }

 private:
  struct Split {
    Pattern pattern;
    SplitBehavior behavior;
    bool invert;
  };

  Status apply(std::size_t rule, std::string_view piece, Place place, const Visit& visit);
  Status apply_split(std::size_t rule, std::string_view piece, Place place, const Visit& visit);
  Status apply_metaspace(std::size_t rule, std::string_view piece, Place place, const Visit& visit);

  std::vector<std::variant<Split, PrefixSpace, Metaspace>> rules_;
};

}  // namespace trainward::trainer
