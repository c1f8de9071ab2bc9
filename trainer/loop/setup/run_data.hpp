// What a run is trained on and evaluated on, in either form: a stream of tokens (load_data.hpp), or
// examples with answers (load_examples.hpp).
//
// In: the configuration, once its model is chosen (choose_model.hpp). Out: the sources; the
// configuration with the vocabulary, the number of steps and the digest that belong to them.
// Errors: those of both, and usage where all of a stream is held out.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/base/error.hpp"
#include "trainer/batch/batch_source.hpp"
#include "trainer/data/corpus.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/requests.hpp"
#include "trainer/loop/setup/load_examples.hpp"
#include "trainer/loop/setup/worker_config.hpp"

namespace trainward::trainer {

class RunData {
 public:
  static Result<RunData> load(WorkerConfig& config, const std::filesystem::path& checkpoints,
                              bool resuming, const Requests& requests, Reporter& reporter);

  // SHA-256 of what is trained on and what made it.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  // Of what made the tokens.
  [[nodiscard]] const std::string& tokenizer_digest() const { return tokenizer_digest_; }
  [[nodiscard]] BatchSource& training() const;
  [[nodiscard]] HeldOutSource* held_out() const;  // nullptr: nothing is evaluated on
  // nullptr: a stream.
  [[nodiscard]] Examples* examples() const { return examples_.get(); }

 private:
  Status load_stream(WorkerConfig& config, const std::filesystem::path& checkpoints, bool resuming,
                     const Requests& requests, Reporter& reporter);
  Status load_rows(WorkerConfig& config, const std::filesystem::path& checkpoints, bool resuming,
                   const Requests& requests, Reporter& reporter);

  std::unique_ptr<const Corpus> corpus_;
  std::unique_ptr<BatchSource> stream_;
  std::unique_ptr<HeldOutSource> held_out_blocks_;
  std::unique_ptr<Examples> examples_;
  std::string digest_;
  std::string tokenizer_digest_;
};

}  // namespace trainward::trainer
