// Whether runs of our own worker could begin: what of that a configuration does not say.
//
// In: a configuration that was read. Out: a problem for each folder of a model that cannot be used
// (checkpoint/huggingface/model/model_folder.hpp), rows that are longer than the model can see, and
// evaluations without anything to evaluate on. Opens the folders, and reads headers and small files
// there; what weights hold is for `trainward-worker plan`.
#pragma once

#include "supervisor/config/config.hpp"

namespace trainward::ctl {

config::Problems check_models(const config::Config& config);

}  // namespace trainward::ctl
