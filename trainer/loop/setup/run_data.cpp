#include "trainer/loop/setup/run_data.hpp"

#include "trainer/data/batch_reader.hpp"
#include "trainer/loop/setup/load_data.hpp"

namespace trainward::trainer {

namespace fs = std::filesystem;

Result<RunData> RunData::load(WorkerConfig& config, const fs::path& checkpoints, bool resuming,
                              const Requests& requests, Reporter& reporter) {
  auto examples = data_is_examples(config, resuming);
  if (!examples) {
    if (resuming) examples.error().kind = ErrorKind::permanent;
    return propagate(examples);
  }
  RunData data;
  auto ok = *examples ? data.load_rows(config, checkpoints, resuming, requests, reporter)
                      : data.load_stream(config, checkpoints, resuming, requests, reporter);
  if (!ok) return propagate(ok);
  return data;
}

Status RunData::load_stream(WorkerConfig& config, const fs::path& checkpoints, bool resuming,
                            const Requests& requests, Reporter& reporter) {
  if (config.steps == 0) {
    return fail(ErrorKind::usage, "is for data of examples; a stream has no epochs",
                "training_config.num_epochs", "say how many steps: training_config.steps");
  }
  auto corpus = load_data(config, checkpoints, resuming, requests, reporter);
  if (!corpus) return propagate(corpus);
  if (config.held_out() >= corpus->blocks()) {
    return fail(
        ErrorKind::usage,
        fmt::format("{} blocks are to be held out of {}", config.held_out(), corpus->blocks()),
        "training_config.evaluation_blocks", "hold out fewer, or add data");
  }
  corpus_ = std::make_unique<const Corpus>(*std::move(corpus));
  digest_ = corpus_->digest();
  tokenizer_digest_ = corpus_->tokenizer_digest();
  const TrainingSpec& training = config.training;
  stream_ = std::make_unique<BatchReader>(*corpus_, training.sequences_per_step(), training.seed,
                                          config.held_out());
  if (config.held_out() > 0) {
    held_out_blocks_ = std::make_unique<HeldOut>(*corpus_, config.held_out(), training.batch_size);
  }
  return {};
}

Status RunData::load_rows(WorkerConfig& config, const fs::path& checkpoints, bool resuming,
                          const Requests& requests, Reporter& reporter) {
  auto examples = load_examples(config, checkpoints, resuming, requests, reporter);
  if (!examples) return propagate(examples);
  examples_ = std::make_unique<Examples>(*std::move(examples));
  digest_ = examples_->digest;
  tokenizer_digest_ = examples_->prompting.digest;
  TrainingSpec& training = config.training;
  training.weighted = true;
  training.segmented = config.packing;
  config.steps = examples_->steps_of(config);
  training.schedule.total_steps = config.steps;
  reporter.target(config.steps);
  return {};
}

BatchSource& RunData::training() const {
  return examples_ != nullptr ? *examples_->training : *stream_;
}

HeldOutSource* RunData::held_out() const {
  return examples_ != nullptr ? examples_->held_out.get() : held_out_blocks_.get();
}

}  // namespace trainward::trainer
