#include "trainer/loop/run_samples.hpp"

#include "trainer/generate/model_weights.hpp"

namespace trainward::trainer {

Result<std::unique_ptr<RunSamples>> RunSamples::make(const WorkerConfig& config, Trainable& model,
                                                     Prompting& prompting, const Requests& requests,
                                                     Reporter& reporter) {
  if (config.sample_prompts.empty()) return std::unique_ptr<RunSamples>();
  auto weights = weights_of(model, config.training.model);
  if (!weights) return propagate(weights);
  const Sampling sampling{.temperature = config.sample_temperature,
                          .top_k = config.sample_top_k,
                          .top_p = config.sample_top_p,
                          .repetition_penalty = config.sample_repetition_penalty};
  auto sampler = Sampler::make(*weights, *prompting.tokenizer,
                               {.prompts = config.sample_prompts,
                                .format = prompting.format,
                                .rules = prompting.rules,
                                .tokens = config.sample_tokens,
                                .sampling = sampling,
                                .seed = config.training.seed,
                                .threads = config.training.threads});
  if (!sampler) {
    sampler.error().where = fmt::format("training_config.samples: {}", sampler.error().where);
    return propagate(sampler);
  }
  return std::unique_ptr<RunSamples>(
      new RunSamples(model, *std::move(sampler), requests, reporter));
}

Result<bool> RunSamples::speak(std::int64_t step) {
  if (auto ok = model_.gather_state(); !ok) return propagate(ok);
  auto samples = sampler_->sample(step, [this] {
    reporter_.alive();
    return requests_.stop_requested();
  });
  if (!samples) return propagate(samples);
  for (const Sample& sample : *samples) {
    reporter_.sampled(
        {step, sample.prompt, sample.answer, sample.tokens, std::string(name_of(sample.end))});
  }
  return samples->empty() || samples->back().end != Generated::End::asked;
}

}  // namespace trainward::trainer
