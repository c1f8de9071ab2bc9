#include "trainer/generate/generator.hpp"

#include <algorithm>

#include "trainer/tokenizer/stream_decoder.hpp"

namespace trainward::trainer {

std::string_view name_of(Generated::End end) {
  switch (end) {
    case Generated::End::token:
      return "end_of_text";
    case Generated::End::length:
      return "length";
    case Generated::End::asked:
      return "asked";
  }
  return "?";
}

void Generator::forget() {
  decoder_->go_back_to(0);
  seen_.clear();
}

std::span<const TokenId> Generator::go_back(std::span<const TokenId> text) {
  const auto differ = std::ranges::mismatch(seen_, text.first(text.size() - 1));
  seen_.erase(differ.in1, seen_.end());
  decoder_->go_back_to(static_cast<std::int64_t>(seen_.size()));
  return text.subspan(seen_.size());
}

Result<std::span<const float>> Generator::advance(std::span<const TokenId> tokens) {
  auto logits = decoder_->advance(tokens);
  if (!logits) return propagate(logits);
  seen_.insert(seen_.end(), tokens.begin(), tokens.end());
  // A model may have more rows than its tokenizer has tokens: nothing was learned for them.
  const auto known = static_cast<std::size_t>(tokenizer_->vocabulary());
  return logits->first(std::min(known, logits->size()));
}

TokenId Generator::choose(std::span<const float> logits, const GenerateRequest& request,
                          std::int64_t position) {
  const Sampling& sampling = request.sampling;
  const double uniform = request.random.uniform(static_cast<std::uint64_t>(position));
  if (sampling.repetition_penalty == 1) return sample(logits, sampling, uniform);
  penalised_.assign(logits.begin(), logits.end());
  penalise(penalised_, present_, sampling.repetition_penalty);
  return sample(penalised_, sampling, uniform);
}

Result<Generated> Generator::go_on(std::span<const TokenId> text, const GenerateRequest& request) {
  if (text.empty()) return fail(ErrorKind::usage, "there is no text to continue");
  const std::int64_t room = decoder_->context() - static_cast<std::int64_t>(text.size());
  if (room < 1) {
    return fail(ErrorKind::usage,
                fmt::format("a text of {} tokens leaves no room for an answer, with {} in all",
                            text.size(), decoder_->context()));
  }
  Generated result;
  StreamDecoder letters(*tokenizer_, {.begins = request.begins});
  const auto show = [&](std::string_view news) {
    result.text += news;
    if (!request.show || request.show(news)) return true;
    result.end = Generated::End::asked;
    return false;
  };
  std::span<const TokenId> next = go_back(text);
  TokenId chosen = 0;
  present_.assign(text.begin(), text.end());
  while (result.tokens < std::min(request.tokens, room)) {
    auto logits = advance(next);
    if (!logits) return propagate(logits);
    chosen = choose(*logits, request, result.tokens);
    if (std::ranges::find(ends_, chosen) != ends_.end()) {
      result.end = Generated::End::token;
      break;
    }
    ++result.tokens;
    present_.push_back(chosen);
    next = std::span(&chosen, 1);
    // An id without a token, which an untrained model may choose, stands for no text.
    if (!show(letters.put(chosen).value_or(std::string()))) return result;
  }
  if (const std::string rest = letters.finish(); !rest.empty()) {
    const Generated::End end = result.end;
    (void)show(rest);
    result.end = end;
  }
  return result;
}

}  // namespace trainward::trainer
