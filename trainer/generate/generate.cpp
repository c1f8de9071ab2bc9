#include "trainer/generate/generate.hpp"

#include "checkpoint/reader.hpp"
#include "trainer/generate/decoder.hpp"
#include "trainer/model/training/random.hpp"

namespace trainward::trainer {

Result<Generated> generate(const GenerateJob& job, Tokenizer& tokenizer) {
  auto checkpoint = checkpoint::Reader::open(job.checkpoint);
  if (!checkpoint) return propagate(checkpoint);
  auto model = model_of(*checkpoint, tokenizer.vocabulary());
  if (!model) {
    model.error().where = job.checkpoint.string();
    return propagate(model);
  }
  std::vector<TokenId> next;
  if (auto ok = tokenizer.encode(job.prompt, next); !ok) return propagate(ok);
  if (next.empty()) next.push_back(tokenizer.end_of_text());

  Generated result;
  result.step = checkpoint->state().step;
  result.prompt_tokens = static_cast<std::int64_t>(next.size());
  auto decoder = Decoder::make(*checkpoint, *model, result.prompt_tokens + job.tokens, job.threads);
  if (!decoder) return propagate(decoder);
  const RandomStream random(job.seed, "generate");
  while (result.tokens < job.tokens) {
    auto logits = (*decoder)->advance(next);
    if (!logits) return propagate(logits);
    const TokenId chosen =
        sample(*logits, job.sampling, random.uniform(static_cast<std::uint64_t>(result.tokens)));
    next.assign(1, chosen);
    if (chosen == tokenizer.end_of_text()) {
      result.end = Generated::End::document;
      return result;
    }
    const bool begins = job.prompt.empty() && result.tokens == 0;
    auto bytes = tokenizer.decode(next, {.begins = begins});
    if (!bytes) return propagate(bytes);
    ++result.tokens;
    result.text += *bytes;
    if (job.show && !job.show(*bytes)) {
      result.end = Generated::End::asked;
      return result;
    }
  }
  return result;
}

}  // namespace trainward::trainer
