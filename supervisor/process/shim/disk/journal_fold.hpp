// The older file of a journal goes into the thinned one (common/wire/journal.hpp), which stays
// below a size however long the attempt lasts.
//
// What began and ended the attempt stays. Of steps and signs of life every second stays, or every
// fourth, …, as many as there is room for, evenly over the whole attempt; of phases, checkpoints
// and evaluations all, unless they alone fill half of the room.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/error.hpp"
#include "common/os/folder.hpp"

namespace trainward::shim {

// NAME.1 and NAME.thinned become NAME.thinned, of about `most_bytes`, durably. None of them:
// nothing is done. After a crash at any instant a second call does the rest.
Status fold_journal(const Folder& folder, const std::string& name, std::int64_t most_bytes);

}  // namespace trainward::shim
