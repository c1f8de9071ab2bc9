// What the run database and the attempts' folders know of the run that a checkpoint is of, for the
// model card of an exported folder.
//
// In: a checkpoint's folder. Out: attempts, losses up to its step, data and settings; nothing at
// all when the database does not know the checkpoint, and never an error: a card is written
// without. The database is read as it is, whether a daemon runs or not.
#pragma once

#include <filesystem>

#include "checkpoint/huggingface/writing/model_card.hpp"
#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl {

checkpoint::huggingface::ModelCardFacts card_facts(const Context& context,
                                                   const std::filesystem::path& checkpoint);

}  // namespace trainward::ctl
