// The data of a run, as its configuration says.
//
// In: the configuration, and where checkpoints go: bad lines are put aside in `bad-lines.jsonl`
// there. Out: the corpus; the configuration with the vocabulary and the digest that belong to it.
// Tells how far it is while it reads, and what was left out. Errors: those of the tokenizer, the
// corpus and fit_to_data(), naming the key of the configuration where there is one; transient, when
// `requests` asked to stop. While resuming, what is wrong with files is permanent instead of usage:
// data that was there when the checkpoint was written may come back; a network folder does.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"
#include "trainer/data/corpus.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/requests.hpp"
#include "trainer/loop/setup/worker_config.hpp"

namespace trainward::trainer {

Result<Corpus> load_data(WorkerConfig& config, const std::filesystem::path& checkpoints,
                         bool resuming, const Requests& requests, Reporter& reporter);

}  // namespace trainward::trainer
