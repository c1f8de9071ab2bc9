// A state slot after its checks, in the form of a checkpoint folder's.
//
// Every byte of every file has been compared with its checksum, but of tensors where they have
// been `compared` before. Kind permanent: it is empty;
// corrupt: torn, of another version, damaged. `name`: the slot in messages.
#pragma once

#include <string>

#include "checkpoint/verified.hpp"

namespace trainward::checkpoint {

// Borrows `memory`, and must not outlive its contents.
Result<Verified> open_slot(int memory, const std::string& name, bool compared = false);

}  // namespace trainward::checkpoint
