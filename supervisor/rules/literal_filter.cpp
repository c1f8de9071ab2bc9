#include "supervisor/rules/literal_filter.hpp"

#include <re2/filtered_re2.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "supervisor/rules/pattern.hpp"

namespace trainward::rules {
namespace {

constexpr std::size_t piece_bytes = 3;
constexpr std::size_t max_text_bytes = 255;

// The same bit set in every byte: letters in either case become one, and so do a few other
// characters, which only makes a candidate more.
char folded(char c) { return static_cast<char>(static_cast<unsigned char>(c) | 0x20U); }

constexpr std::uint32_t fold_bits = 0x202020U;

std::uint32_t folded_piece(const char* at) {
  const auto byte = [&](int i) { return std::uint32_t{static_cast<unsigned char>(at[i])}; };
  return (byte(0) | byte(1) << 8U | byte(2) << 16U) | fold_bits;
}

std::uint32_t slot_of(std::uint32_t bytes) { return (bytes * 0x9E3779B1U) >> 16U; }

// How often a byte comes up in logs, roughly.
int commonness(char c) {
  constexpr std::string_view frequent = "etaoinrs ";
  constexpr std::string_view usual = "lcdupmhgf.-_/:01";
  if (frequent.find(c) != std::string_view::npos) return 4;
  return usual.find(c) != std::string_view::npos ? 2 : 1;
}

std::size_t rarest_piece(std::string_view text) {
  std::size_t best = 0;
  int lowest = 1'000;
  for (std::size_t i = 0; i + piece_bytes <= text.size(); ++i) {
    int score = 0;
    for (const char c : text.substr(i, piece_bytes)) score += commonness(c);
    if (score < lowest) {
      lowest = score;
      best = i;
    }
  }
  return best;
}

// Short texts of common letters and texts with words every log is full of are given up first.
int worth(std::string_view text) {
  constexpr std::array<std::string_view, 40> words{
      "loss",   "grad",  "step",  "norm",   "value",  "weight", "info",    "epoch",
      "train",  "devic", "file",  "data",   "error",  "fail",   "warn",    "load",
      "memory", "nccl",  "cuda",  "gpu",    "rank",   "time",   "batch",   "param",
      "output", "tens",  "numb",  "found",  "checkp", "host",   "process", "worker",
      "model",  "node",  "start", "connec", "read",   "with",   "version", "chan"};
  int sum = 0;
  for (const char c : text) sum += 5 - commonness(c);
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) sum -= 12;
  }
  return sum;
}

// May the pattern match a line that holds none of `without`?
bool possible_without(const re2::FilteredRE2& filter, std::size_t count,
                      const std::vector<bool>& without) {
  std::vector<int> present;
  for (std::size_t i = 0; i < count; ++i) {
    if (!without[i]) present.push_back(static_cast<int>(i));
  }
  std::vector<int> potential;
  filter.AllPotentials(present, &potential);
  return !potential.empty();
}

}  // namespace

std::vector<std::string> required_texts(const std::string& pattern) {
  re2::FilteredRE2 filter(piece_bytes);
  int id = 0;
  std::vector<std::string> texts;
  if (filter.Add(pattern, pattern_options(), &id) != RE2::NoError) return {};
  filter.Compile(&texts);
  // All texts together are enough; one after the other is left out where the rest still is.
  std::vector<bool> needed(texts.size(), true);
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return worth(texts[a]) < worth(texts[b]); });
  for (const std::size_t i : order) {
    needed[i] = false;
    if (possible_without(filter, texts.size(), needed)) needed[i] = true;
  }
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (needed[i]) kept.push_back(texts[i].substr(0, max_text_bytes));
  }
  return kept;
}

void LiteralFilter::add(PatternId pattern, std::span<const std::string> texts) {
  if (texts.empty()) return always_.push_back(pattern);
  for (const std::string& text : texts) {
    const std::size_t offset = rarest_piece(text);
    const Piece piece{folded_piece(text.data() + offset), static_cast<std::uint32_t>(texts_.size()),
                      static_cast<std::uint8_t>(text.size()), static_cast<std::uint8_t>(offset),
                      pattern};
    for (const char c : text) texts_ += folded(c);
    pieces_.push_back(piece);
    present_->set(slot_of(piece.bytes));
  }
}

void LiteralFilter::finish() {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return slot_of(a.bytes) < slot_of(b.bytes); });
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    first_[slot_of(pieces_[i].bytes) / slots_per_start] = static_cast<std::uint16_t>(i);
  }
}

bool LiteralFilter::stands_at(const Piece& piece, std::string_view line, std::size_t at) const {
  if (at < piece.offset || line.size() - (at - piece.offset) < piece.length) return false;
  const char* text = texts_.data() + piece.text;
  const char* found = line.data() + (at - piece.offset);
  for (std::size_t i = 0; i < piece.length; ++i) {
    if (folded(found[i]) != text[i]) return false;
  }
  return true;
}

void LiteralFilter::candidates(std::string_view line, std::vector<PatternId>& found) const {
  found.assign(always_.begin(), always_.end());
  const auto& present = *present_;
  std::uint32_t bytes = line.size() < piece_bytes ? 0 : (folded_piece(line.data()) & 0xFFFFU) << 8U;
  for (std::size_t i = 0; i + piece_bytes <= line.size(); ++i) {
    // The window moves on by one byte.
    const auto next = static_cast<unsigned char>(line[i + 2]);
    bytes = bytes >> 8U | std::uint32_t{next} << 16U | fold_bits;
    if (!present[slot_of(bytes)]) continue;
    const std::uint32_t slot = slot_of(bytes);
    for (std::size_t k = first_[slot / slots_per_start];
         k < pieces_.size() && slot_of(pieces_[k].bytes) <= slot; ++k) {
      if (pieces_[k].bytes == bytes && stands_at(pieces_[k], line, i)) {
        found.push_back(pieces_[k].pattern);
      }
    }
  }
  if (found.size() < 2) return;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

}  // namespace trainward::rules
