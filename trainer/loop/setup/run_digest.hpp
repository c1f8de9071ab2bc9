// Which run a checkpoint belongs to: what decides the weights, as lines of text and as their
// digest.
//
// A line a value; what was added later is added where it is set, so that old digests stay what they
// are. The text goes into checkpoints too, so that a run that is refused can say which setting
// differs; those of older versions have the digest alone. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/loop/setup/worker_config.hpp"

namespace trainward::trainer {

std::string digest_text(const WorkerConfig& config, const std::string& tokenizer_digest);

// The settings by which two such texts differ, by their keys:
// "training_config.seed was 7 and is 8".
std::vector<std::string> changed_settings(std::string_view before, std::string_view now);

}  // namespace trainward::trainer
