#include "trainer/tokenizer/bpe/merger.hpp"

#include <algorithm>
#include <limits>

namespace trainward::trainer {
namespace {

// Where searching again becomes dearer than a heap; measured.
constexpr std::size_t longest_short = 48;
constexpr std::uint32_t no_token = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void Merger::merge(std::vector<TokenId>& tokens, std::vector<TokenId>& out) {
  tokens.size() <= longest_short ? merge_short(tokens, out) : merge_long(tokens, out);
}

void Merger::merge_short(std::vector<TokenId>& tokens, std::vector<TokenId>& out) {
  std::size_t count = tokens.size();
  pairs_.resize(count);
  for (std::size_t i = 0; i + 1 < count; ++i) pairs_[i] = merges_->find(tokens[i], tokens[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (pairs_[i].rank < pairs_[best].rank) best = i;
    }
    if (pairs_[best].rank == Merge::never) break;
    tokens[best] = pairs_[best].merged;
    for (std::size_t i = best + 1; i + 1 < count; ++i) {
      tokens[i] = tokens[i + 1];
      pairs_[i] = pairs_[i + 1];
    }
    --count;
    if (best + 1 < count) pairs_[best] = merges_->find(tokens[best], tokens[best + 1]);
    if (best > 0) pairs_[best - 1] = merges_->find(tokens[best - 1], tokens[best]);
  }
  out.insert(out.end(), tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count));
}

namespace {

// For a heap whose top is the lowest.
bool later(std::uint32_t a_rank, std::uint32_t a_at, std::uint32_t b_rank, std::uint32_t b_at) {
  return a_rank != b_rank ? a_rank > b_rank : a_at > b_at;
}

}  // namespace

void Merger::offer(const std::vector<TokenId>& tokens, std::uint32_t at) {
  ranks_[at] = Merge::never;
  const std::uint32_t next = links_[at].after;
  if (next == no_token) return;
  const Merge merge = merges_->find(tokens[at], tokens[next]);
  if (merge.rank == Merge::never) return;
  ranks_[at] = merge.rank;
  heap_.push_back({merge.rank, at, merge.merged});
  std::push_heap(heap_.begin(), heap_.end(), [](const Candidate& a, const Candidate& b) {
    return later(a.rank, a.at, b.rank, b.at);
  });
}

void Merger::merge_long(std::vector<TokenId>& tokens, std::vector<TokenId>& out) {
  const auto count = static_cast<std::uint32_t>(tokens.size());
  links_.resize(count);
  ranks_.assign(count, Merge::never);
  heap_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    links_[i] = {i == 0 ? no_token : i - 1, i + 1 == count ? no_token : i + 1};
  }
  for (std::uint32_t i = 0; i < count; ++i) offer(tokens, i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), [](const Candidate& a, const Candidate& b) {
      return later(a.rank, a.at, b.rank, b.at);
    });
    const Candidate best = heap_.back();
    heap_.pop_back();
    // Of a pair that is gone: its left token was merged, or got another neighbour. A rank belongs
    // to one pair.
    if (ranks_[best.at] != best.rank) continue;
    const std::uint32_t gone = links_[best.at].after;
    tokens[best.at] = best.merged;
    ranks_[gone] = Merge::never;
    links_[best.at].after = links_[gone].after;
    if (links_[gone].after != no_token) links_[links_[gone].after].before = best.at;
    offer(tokens, best.at);
    if (links_[best.at].before != no_token) offer(tokens, links_[best.at].before);
  }
  for (std::uint32_t at = 0; at != no_token; at = links_[at].after) out.push_back(tokens[at]);
}

}  // namespace trainward::trainer
