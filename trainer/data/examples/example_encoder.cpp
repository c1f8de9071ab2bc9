#include "trainer/data/examples/example_encoder.hpp"

#include <algorithm>
#include <utility>

namespace trainward::trainer {
namespace {

// A format has a handful of short markup texts; beyond these limits nothing is cached.
constexpr std::size_t most_markup_texts = 1024;
constexpr std::size_t most_markup_bytes = 4096;

bool same_side(const PromptPiece& a, const PromptPiece& b) { return a.answer == b.answer; }

}  // namespace

bool ExampleEncoder::is_special(TokenId id) {
  const auto [known, fresh] = special_.try_emplace(id, false);
  if (fresh) {
    const auto shown = tokenizer_->decode(std::span(&id, 1), {.begins = false, .special = true});
    const auto left = tokenizer_->decode(std::span(&id, 1), {.begins = false, .special = false});
    known->second = shown && left && left->empty() && !shown->empty();
  }
  return known->second;
}

ExampleEncoder::Ids ExampleEncoder::specials_among(std::span<const TokenId> ids) {
  Ids found;
  for (const TokenId id : ids) {
    if (is_special(id)) found.push_back(id);
  }
  return found;
}

Result<ExampleEncoder::Ids> ExampleEncoder::specials_of_markup(std::span<const PromptPiece> run) {
  Ids all;
  for (const PromptPiece& piece : run) {
    if (!piece.markup) continue;
    auto known = markup_specials_.find(piece.text);
    if (known == markup_specials_.end()) {
      Ids ids;
      if (auto ok = tokenizer_->encode(piece.text, ids, {.begins = false}); !ok) {
        return propagate(ok);
      }
      if (markup_specials_.size() >= most_markup_texts) markup_specials_.clear();
      known = markup_specials_.emplace(piece.text, specials_among(ids)).first;
    }
    all.insert(all.end(), known->second.begin(), known->second.end());
    if (piece.text.size() > most_markup_bytes) markup_specials_.erase(known);
  }
  return all;
}

Status ExampleEncoder::piece_by_piece(std::span<const PromptPiece> run, EncodeOptions place,
                                      Ids& out) {
  for (const PromptPiece& piece : run) {
    if (piece.text.empty()) continue;
    place.special = piece.markup;
    if (auto ok = tokenizer_->encode(piece.text, out, place); !ok) return ok;
    place.begins = false;
    place.after_token = !out.empty() && is_special(out.back());
  }
  return {};
}

Status ExampleEncoder::add_run(std::span<const PromptPiece> run, EncodedExample& out) {
  Example& example = out.example;
  EncodeOptions place;
  place.begins = example.ids.empty();
  place.after_token = !place.begins && is_special(example.ids.back());
  std::string text;
  for (const PromptPiece& piece : run) text += piece.text;
  Ids ids;
  if (auto ok = tokenizer_->encode(text, ids, place); !ok) return ok;
  if (!std::ranges::all_of(run, &PromptPiece::markup)) {
    auto allowed = specials_of_markup(run);
    if (!allowed) return propagate(allowed);
    if (specials_among(ids) != *allowed) {
      Ids safe;
      if (auto ok = piece_by_piece(run, place, safe); !ok) return ok;
      out.special_in_text = out.special_in_text || safe != ids;
      ids = std::move(safe);
    }
  }
  example.ids.insert(example.ids.end(), ids.begin(), ids.end());
  const bool target = run.front().answer || rules_.train_on_prompts;
  example.targets.resize(example.ids.size(), target ? 1 : 0);
  return {};
}

void ExampleEncoder::begin_once(Example& example, Of what) const {
  const auto beginning =
      std::span(rules_.beginning).first(static_cast<std::size_t>(this->beginning(what)));
  if (example.ids.size() >= beginning.size() &&
      std::equal(beginning.begin(), beginning.end(), example.ids.begin())) {
    return;
  }
  example.ids.insert(example.ids.begin(), beginning.begin(), beginning.end());
  example.targets.insert(example.targets.begin(), beginning.size(), std::uint8_t{0});
}

void ExampleEncoder::end_once(Example& example) const {
  while (!example.targets.empty() && example.targets.back() == 0) {
    example.targets.pop_back();
    example.ids.pop_back();
  }
  const Ids& ends = rules_.ends;
  if (ends.empty() || example.ids.empty()) return;
  if (std::ranges::find(ends, example.ids.back()) != ends.end()) return;
  example.ids.push_back(ends.front());
  example.targets.push_back(1);
}

Status ExampleEncoder::add_all(std::span<const PromptPiece> pieces, EncodedExample& out) {
  while (!pieces.empty()) {
    const auto other = std::ranges::find_if_not(
        pieces, [&](const PromptPiece& piece) { return same_side(piece, pieces.front()); });
    const auto run = pieces.first(static_cast<std::size_t>(other - pieces.begin()));
    if (auto ok = add_run(run, out); !ok) return ok;
    pieces = pieces.subspan(run.size());
  }
  return {};
}

Result<EncodedExample> ExampleEncoder::encode(std::span<const PromptPiece> pieces, Of what) {
  EncodedExample out;
  if (auto ok = add_all(pieces, out); !ok) return propagate(ok);
  end_once(out.example);
  begin_once(out.example, what);
  return out;
}

Result<std::vector<TokenId>> ExampleEncoder::encode_prompt(std::span<const PromptPiece> pieces,
                                                           Of what) {
  EncodedExample out;
  if (auto ok = add_all(pieces, out); !ok) return propagate(ok);
  begin_once(out.example, what);
  return std::move(out.example.ids);
}

}  // namespace trainward::trainer
