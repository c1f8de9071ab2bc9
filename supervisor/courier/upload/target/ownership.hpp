// Whose a place is. Of two runs that share one each would replace what the other one has there, so
// it belongs to the run that published last: one that goes on from a checkpoint of before it takes
// the place over, once, and one that began from nothing does not.
#pragma once

#include <string>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload {

// `there`: the run that published last, by what it left; empty: none, or of a version that did not
// say. Kind permanent: it is another one's, or has become another one's.
Status may_publish(const Run& run, const std::string& there, Memory& memory,
                   const std::string& where);

// This run has published there.
Status note_ownership(const Run& run, Memory& memory);

}  // namespace trainward::upload
