#include "trainer/tokenizer/text/pre_tokenizer.hpp"

#include <optional>
#include <utility>

#include "trainer/tokenizer/text/normalizer.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {

const std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// Makes pieces of matches and gaps, which come in turn from the left. Empty ones count here: a
// match of nothing still parts what is around it.
class Fold {
 public:
  Fold(SplitBehavior behavior, const std::function<Status(Span)>& emit)
      : behavior_(behavior), emit_(emit) {}

  Status accept(Span span, bool is_match) {
    const bool after_match = std::exchange(last_is_match_, is_match);
    switch (behavior_) {
      case SplitBehavior::removed:
        return is_match ? Status() : emit_(span);
      case SplitBehavior::isolated:
        return emit_(span);
      case SplitBehavior::merged_with_previous:
        if (is_match && !after_match && pending_) return close(span.end);
        if (auto ok = finish(); !ok) return ok;
        if (is_match) return emit_(span);
        break;
      case SplitBehavior::merged_with_next:
        if (!is_match && after_match && pending_) return close(span.end);
        if (auto ok = finish(); !ok) return ok;
        if (!is_match) return emit_(span);
        break;
      case SplitBehavior::contiguous:
        if (pending_ && is_match == after_match) {
          pending_->end = span.end;
          return {};
        }
        if (auto ok = finish(); !ok) return ok;
        break;
    }
    pending_ = span;
    return {};
  }

  Status finish() { return pending_ ? close(pending_->end) : Status(); }

 private:
  Status close(std::size_t end) {
    const Span span{pending_->begin, end};
    pending_.reset();
    return emit_(span);
  }

  SplitBehavior behavior_;
  const std::function<Status(Span)>& emit_;
  std::optional<Span> pending_;
  bool last_is_match_ = false;
};

}  // namespace

Result<PreTokenizer> PreTokenizer::compile(const std::vector<PreTokenizerRule>& rules) {
  PreTokenizer made;
  for (const PreTokenizerRule& rule : rules) {
    if (const auto* split = std::get_if<SplitRule>(&rule)) {
      auto pattern = Pattern::compile(split->pattern, split->literal);
      if (!pattern) return propagate(pattern);
      made.rules_.emplace_back(Split{std::move(*pattern), split->behavior, split->invert});
    } else if (const auto* metaspace = std::get_if<Metaspace>(&rule)) {
      made.rules_.emplace_back(*metaspace);
    } else {
      made.rules_.emplace_back(PrefixSpace{});
    }
  }
  return made;
}

Status PreTokenizer::apply(std::size_t rule, std::string_view piece, Place place,
                           const Visit& visit) {
  if (piece.empty()) return {};
  if (rule == rules_.size()) return visit(piece);
  if (std::holds_alternative<Split>(rules_[rule])) return apply_split(rule, piece, place, visit);
  if (std::holds_alternative<Metaspace>(rules_[rule])) {
    return apply_metaspace(rule, piece, place, visit);
  }
  if (piece.front() == ' ' || place == Place::within) return apply(rule + 1, piece, place, visit);
  const std::string spaced = " " + std::string(piece);
  return apply(rule + 1, spaced, place, visit);
}

Status PreTokenizer::apply_metaspace(std::size_t rule, std::string_view piece, Place place,
                                     const Visit& visit) {
  const Metaspace& metaspace = std::get<Metaspace>(rules_[rule]);
  const std::string& mark = metaspace.replacement;
  std::string marked = replaced(piece, {" ", mark});
  const bool wanted = (metaspace.prepend == Metaspace::Prepend::always && place != Place::within) ||
                      (metaspace.prepend == Metaspace::Prepend::first && place == Place::beginning);
  if (wanted && !marked.starts_with(mark)) marked.insert(0, mark);
  if (!metaspace.split) return apply(rule + 1, marked, place, visit);
  std::string_view rest = marked;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(mark, 1));
    if (auto ok = apply(rule + 1, word, place, visit); !ok) return ok;
    rest.remove_prefix(word.size());
    place = Place::after_token;
  }
  return {};
}

Status PreTokenizer::apply_split(std::size_t rule, std::string_view piece, Place place,
                                 const Visit& visit) {
  Split& split = std::get<Split>(rules_[rule]);
  const bool last = rule + 1 == rules_.size();
  const std::function<Status(Span)> emit = [&](Span span) -> Status {
    const std::string_view part = piece.substr(span.begin, span.end - span.begin);
    if (last && !part.empty()) return visit(part);
    return apply(rule + 1, part, span.begin == 0 ? place : Place::after_token, visit);
  };
  Fold fold(split.behavior, emit);
  std::size_t from = 0;  // where to look
  std::size_t done = 0;  // up to here everything is accepted
  std::optional<std::size_t> last_end;
  while (from <= piece.size()) {
    auto found = split.pattern.find(piece, from);
    if (!found) return propagate(found);
    if (!*found) break;
    const Span match = **found;
    if (match.begin == match.end && last_end == match.end) {
      // Nothing, right after the last match: would be found for ever.
      if (from == piece.size()) break;
      from += utf8_character(piece.substr(from));
      continue;
    }
    if (done < match.begin) {
      if (auto ok = fold.accept({done, match.begin}, split.invert); !ok) return ok;
    }
    if (auto ok = fold.accept(match, !split.invert); !ok) return ok;
    from = done = match.end;
    last_end = match.end;
  }
  if (done < piece.size()) {
    if (auto ok = fold.accept({done, piece.size()}, split.invert); !ok) return ok;
  }
  return fold.finish();
}

}  // namespace trainward::trainer
