#include "trainer/tokenizer/tokens/added_tokens.hpp"

#include <algorithm>

#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

template <typename Next>
auto step(Next& next, unsigned char byte) {
  return std::find_if(next.begin(), next.end(),
                      [&](const auto& edge) { return edge.first == byte; });
}

bool touches_word(std::string_view text, Span span) {
  return ends_with_word(text.substr(0, span.begin)) || begins_with_word(text.substr(span.end));
}

}  // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens) : tokens_(tokens) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    std::uint32_t node = 0;
    for (const char c : tokens_[i].content) {
      const auto byte = static_cast<unsigned char>(c);
      const auto edge = step(nodes_[node].next, byte);
      if (edge != nodes_[node].next.end()) {
        node = edge->second;
        continue;
      }
      const auto made = static_cast<std::uint32_t>(nodes_.size());
      nodes_[node].next.emplace_back(byte, made);
      nodes_.emplace_back();
      node = made;
    }
    nodes_[node].token = static_cast<std::int32_t>(i);
    begins_[static_cast<unsigned char>(tokens_[i].content.front())] = true;
  }
}

std::int32_t AddedTokens::longest_at(std::string_view text) const {
  std::int32_t longest = -1;
  std::uint32_t node = 0;
  for (const char c : text) {
    const auto edge = step(nodes_[node].next, static_cast<unsigned char>(c));
    if (edge == nodes_[node].next.end()) break;
    node = edge->second;
    if (nodes_[node].token >= 0) longest = nodes_[node].token;
  }
  return longest;
}

std::optional<AddedTokens::Found> AddedTokens::find(std::string_view text, std::size_t from) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    const std::int32_t index = longest_at(text.substr(at));
    if (index < 0) continue;
    const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
    Span span{at, at + token.content.size()};
    if (token.single_word && touches_word(text, span)) {
      at = span.end - 1;
      continue;
    }
    if (token.lstrip) span.begin -= trailing_space(text.substr(from, at - from));
    if (token.rstrip) span.end += leading_space(text.substr(span.end));
    return Found{span, token.id};
  }
  return std::nullopt;
}

}  // namespace trainward::trainer
