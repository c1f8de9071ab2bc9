// The samples of a run: what the model says to the prompts of its configuration, told as it goes.
//
// Borrows everything. The memory of its own is taken when it is made. Errors of make(): those of
// Sampler::make(), naming the setting.
#pragma once

#include <memory>

#include "common/base/error.hpp"
#include "trainer/generate/sampler.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/requests.hpp"
#include "trainer/loop/setup/prompting.hpp"
#include "trainer/loop/training_loop.hpp"

namespace trainward::trainer {

class RunSamples final : public Samples {
 public:
  // Nothing, where no prompts are named.
  static Result<std::unique_ptr<RunSamples>> make(const WorkerConfig& config, Trainable& model,
                                                  Prompting& prompting, const Requests& requests,
                                                  Reporter& reporter);

  // A requested stop does not wait for the rest.
  Result<bool> speak(std::int64_t step) override;

 private:
  RunSamples(Trainable& model, std::unique_ptr<Sampler> sampler, const Requests& requests,
             Reporter& reporter)
      : model_(model), sampler_(std::move(sampler)), requests_(requests), reporter_(reporter) {}

  Trainable& model_;
  std::unique_ptr<Sampler> sampler_;
  const Requests& requests_;
  Reporter& reporter_;
};

}  // namespace trainward::trainer
