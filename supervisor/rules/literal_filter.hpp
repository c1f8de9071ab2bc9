// Which patterns may match a line at all, told from the fixed text in them.
//
// Every pattern comes with texts of which at least one stands in whatever it matches, in any case.
// Of each text the piece of three bytes that is rarest in logs is looked for, all at once, by one
// pass with a bitmap that stays in the first-level cache: most lines are done after that. Where a
// piece is found the whole text is compared. A pattern without such texts is a candidate for every
// line.
// Threads: immutable after finish().
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::rules {

using PatternId = std::uint16_t;

// The texts a regular expression needs, lower case, at least three bytes each: one of them stands
// in every match. As few and as rare as can be; empty when there is no such set.
std::vector<std::string> required_texts(const std::string& pattern);

class LiteralFilter {
 public:
  void add(PatternId pattern, std::span<const std::string> texts);
  void finish();  // after the last add()
  // Replaces `found` by the patterns that may match the line, in rising order.
  void candidates(std::string_view line, std::vector<PatternId>& found) const;
  [[nodiscard]] std::size_t always_count() const { return always_.size(); }

 private:
  struct Piece {
    std::uint32_t bytes;
    std::uint32_t text;   // where the whole text begins in texts_
    std::uint8_t length;  // of it, at most 255
    std::uint8_t offset;  // of the piece in it
    PatternId pattern;
  };
  [[nodiscard]] bool stands_at(const Piece& piece, std::string_view line, std::size_t at) const;

  std::unique_ptr<std::bitset<65'536>> present_ = std::make_unique<std::bitset<65'536>>();
  static constexpr std::size_t slots_per_start = 16;
  std::vector<Piece> pieces_;                                    // by slot in the bitmap
  std::array<std::uint16_t, 65'536 / slots_per_start> first_{};  // of the pieces of 16 slots
  std::string texts_;
  std::vector<PatternId> always_;
};

}  // namespace trainward::rules
