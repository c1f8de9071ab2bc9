#include "trainer/generate/sampler.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "trainer/generate/prompt_tokens.hpp"

namespace trainward::trainer {
namespace {

Result<std::vector<std::vector<TokenId>>> texts_of(const SamplerSetup& setup,
                                                   Tokenizer& tokenizer) {
  PromptTokens tokens(tokenizer, setup.rules);
  std::vector<std::vector<TokenId>> texts;
  for (const std::string& prompt : setup.prompts) {
    const ChatTurn turn{"user", prompt};
    auto text = setup.format == nullptr ? tokens.of_text(prompt)
                                        : tokens.of_turns(*setup.format, std::span(&turn, 1));
    if (!text) {
      text.error().where = fmt::format("sample '{}'", prompt);
      return propagate(text);
    }
    texts.push_back(*std::move(text));
  }
  return texts;
}

}  // namespace

Sampler::Sampler(SamplerSetup setup, std::vector<std::vector<TokenId>> texts,
                 std::unique_ptr<Decoder> decoder, const Tokenizer& tokenizer)
    : setup_(std::move(setup)),
      texts_(std::move(texts)),
      decoder_(std::move(decoder)),
      generator_(*decoder_, tokenizer, setup_.rules.ends) {}

Result<std::unique_ptr<Sampler>> Sampler::make(const ModelWeights& weights, Tokenizer& tokenizer,
                                               SamplerSetup setup) {
  auto texts = texts_of(setup, tokenizer);
  if (!texts) return propagate(texts);
  const std::int64_t most = longest_text(weights.model);
  std::int64_t context = 1;
  for (std::size_t i = 0; i < texts->size(); ++i) {
    const auto length = static_cast<std::int64_t>((*texts)[i].size());
    if (most > 0 && length >= most) {
      return fail(
          ErrorKind::usage,
          fmt::format("it has {} tokens, and texts of this model end after {}", length, most),
          fmt::format("sample '{}'", setup.prompts[i]), "make it shorter");
    }
    context = std::max(context, length + setup.tokens);
  }
  if (most > 0) context = std::min(context, most);
  auto decoder = Decoder::make(weights, context, setup.threads);
  if (!decoder) return propagate(decoder);
  return std::unique_ptr<Sampler>(
      new Sampler(std::move(setup), *std::move(texts), *std::move(decoder), tokenizer));
}

Result<std::vector<Sample>> Sampler::sample(std::int64_t step,
                                            const std::function<bool()>& enough) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::string& prompt = setup_.prompts[i];
    generator_.forget();  // the weights are others than last time
    const RandomStream random(setup_.seed, fmt::format("sample {} {}", step, prompt));
    const auto go_on = [&](std::string_view) { return !enough || !enough(); };
    auto answer = generator_.go_on(texts_[i], {setup_.tokens, setup_.sampling, random, go_on});
    if (!answer) return propagate(answer);
    samples.push_back({prompt, std::move(answer->text), answer->tokens, answer->end});
    if (answer->end == Generated::End::asked) break;
  }
  return samples;
}

}  // namespace trainward::trainer
