#include "supervisor/rules/literal_filter.hpp"

#include <re2/filtered_re2.h>

#include <algorithm>
#include <cstring>

#include "supervisor/rules/pattern.hpp"

namespace trainward::rules {
namespace {

constexpr std::size_t piece_bytes = 4;

// The same bits set in every byte: letters in either case become one, and so do a few other
// characters, which only makes a candidate more.
std::uint32_t folded_piece(const char* at) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, at, piece_bytes);
  return bytes | 0x20202020U;
}

std::uint32_t slot_of(std::uint32_t bytes) { return (bytes * 0x9E3779B1U) >> 16U; }

// How often a byte comes up in logs, roughly.
int commonness(char c) {
  constexpr std::string_view frequent = "etaoinrs ";
  constexpr std::string_view usual = "lcdupmhgf.-_/:01";
  if (frequent.find(c) != std::string_view::npos) return 4;
  return usual.find(c) != std::string_view::npos ? 2 : 1;
}

// Words that every log is full of, whatever their letters.
bool everywhere(std::string_view piece) {
  constexpr std::array<std::string_view, 16> words{"erro", "rror", "fail", "aile", "iled", "devi",
                                                   "evic", "vice", "torc", "orch", "pyth", "ytho",
                                                   "thon", "cuda", "memo", "nccl"};
  return std::find(words.begin(), words.end(), piece) != words.end();
}

std::string_view rarest_piece(std::string_view text) {
  std::string_view best = text.substr(0, piece_bytes);
  int lowest = 1'000;
  for (std::size_t i = 0; i + piece_bytes <= text.size(); ++i) {
    const std::string_view piece = text.substr(i, piece_bytes);
    int score = everywhere(piece) ? 8 : 0;
    for (const char c : piece) score += commonness(c);
    if (score < lowest) {
      lowest = score;
      best = piece;
    }
  }
  return best;
}

}  // namespace

std::vector<std::string> required_texts(const std::string& pattern) {
  re2::FilteredRE2 filter(piece_bytes);
  int id = 0;
  std::vector<std::string> texts;
  if (filter.Add(pattern, pattern_options(), &id) == RE2::NoError) filter.Compile(&texts);
  return texts;
}

void LiteralFilter::add(PatternId pattern, std::span<const std::string> texts) {
  if (texts.empty()) return always_.push_back(pattern);
  for (const std::string& text : texts) {
    const std::uint32_t bytes = folded_piece(rarest_piece(text).data());
    const auto place =
        std::upper_bound(pieces_.begin(), pieces_.end(), bytes,
                         [](std::uint32_t value, const Piece& piece) { return value < piece.bytes; });
    pieces_.insert(place, {bytes, pattern});
    present_->set(slot_of(bytes));
  }
}

void LiteralFilter::candidates(std::string_view line, std::vector<PatternId>& found) const {
  found.assign(always_.begin(), always_.end());
  const auto& present = *present_;
  for (std::size_t i = 0; i + piece_bytes <= line.size(); ++i) {
    const std::uint32_t bytes = folded_piece(line.data() + i);
    if (!present[slot_of(bytes)]) continue;
    auto piece =
        std::lower_bound(pieces_.begin(), pieces_.end(), bytes,
                         [](const Piece& a, std::uint32_t value) { return a.bytes < value; });
    for (; piece != pieces_.end() && piece->bytes == bytes; ++piece) {
      found.push_back(piece->pattern);
    }
  }
  if (found.size() < 2) return;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

}  // namespace trainward::rules
