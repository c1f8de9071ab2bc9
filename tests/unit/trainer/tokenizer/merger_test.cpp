// The fast merging against the plain definition of byte-pair encoding.
#include "trainer/tokenizer/bpe/merger.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>

namespace trainward::trainer {
namespace {

using Tokens = std::vector<TokenId>;

// Merge the lowest pair, the leftmost of equals; again, until no pair is left.
Tokens by_definition(Tokens tokens, const std::vector<MergeRule>& rules) {
  std::map<std::pair<TokenId, TokenId>, std::pair<std::size_t, TokenId>> ranks;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    ranks[{rules[i].left, rules[i].right}] = {i, rules[i].merged};
  }
  for (;;) {
    std::size_t best = tokens.size();
    std::pair<std::size_t, TokenId> merge{rules.size(), 0};
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto found = ranks.find({tokens[i], tokens[i + 1]});
      if (found == ranks.end() || found->second.first >= merge.first) continue;
      best = i;
      merge = found->second;
    }
    if (best == tokens.size()) return tokens;
    tokens[best] = merge.second;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

Tokens fast(Tokens tokens, const std::vector<MergeRule>& rules) {
  const PairTable table(rules);
  Merger merger(table);
  Tokens out;
  merger.merge(tokens, out);
  return out;
}

// Random rules over few letters, so that they overlap; a rule may stand before those that make its
// parts, and several may make the same token.
std::vector<MergeRule> random_rules(std::mt19937_64& random, int letters, int count) {
  std::vector<std::string> tokens;
  for (int i = 0; i < letters; ++i) tokens.emplace_back(1, static_cast<char>('a' + i));
  std::vector<MergeRule> rules;
  for (int i = 0; i < count; ++i) {
    const auto left = random() % tokens.size();
    const auto right = random() % tokens.size();
    const std::string merged = tokens[left] + tokens[right];
    if (merged.size() > 12) continue;
    auto known = std::find(tokens.begin(), tokens.end(), merged);
    if (known == tokens.end()) known = tokens.insert(tokens.end(), merged);
    rules.push_back({static_cast<TokenId>(left), static_cast<TokenId>(right),
                     static_cast<TokenId>(known - tokens.begin())});
  }
  std::shuffle(rules.begin(), rules.end(), random);
  return rules;
}

TEST(MergerTest, EqualsTheDefinitionOnRandomVocabularies) {
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    const int letters = 2 + static_cast<int>(random() % 4);
    const auto rules = random_rules(random, letters, 1 + static_cast<int>(random() % 60));
    for (const std::size_t length : {0U, 1U, 2U, 7U, 30U, 48U, 49U, 50U, 200U}) {
      Tokens tokens(length);
      for (TokenId& token : tokens) token = static_cast<TokenId>(random() % letters);
      ASSERT_EQ(fast(tokens, rules), by_definition(tokens, rules))
          << "round " << round << ", " << length << " tokens";
    }
  }
}

TEST(MergerTest, TheLeftmostOfEqualPairsGoesFirst) {
  EXPECT_EQ(fast({0, 0, 0}, {{0, 0, 1}}), (Tokens{1, 0}));
  EXPECT_EQ(fast({0, 0, 0, 0, 0}, {{0, 0, 1}, {1, 1, 2}}), (Tokens{2, 0}));
}

TEST(MergerTest, OfTwoRulesForAPairTheLaterCounts) {
  EXPECT_EQ(fast({0, 1, 2}, {{0, 1, 3}, {1, 2, 4}, {0, 1, 3}}), (Tokens{0, 4}));
}

TEST(MergerTest, ALongPieceIsNotQuadratic) {
  std::vector<MergeRule> rules{{0, 0, 1}};
  for (TokenId i = 1; i < 20; ++i) rules.push_back({i, i, i + 1});
  const Tokens out = fast(Tokens(std::size_t{1} << 20U, 0), rules);
  EXPECT_EQ(out, Tokens{20});
}

}  // namespace
}  // namespace trainward::trainer
