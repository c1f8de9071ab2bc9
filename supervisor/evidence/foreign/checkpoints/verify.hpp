// Whether a foreign program's checkpoint can be resumed from, and which one to take.
//
// A file: what content.hpp finds. A folder is whole when nobody writes in it, every file in it is,
// every file that an index names is there (`*.index.json` of sharded weights), what is written last
// is there (trainer_state.json of Hugging Face's Trainer, .metadata of PyTorch's distributed
// checkpoints), and nothing is missing that the one before it in the same series has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/evidence/foreign/checkpoints/find.hpp"

namespace trainward::foreign {

enum class Writer { alive, gone };

// Kind corrupt: why it cannot be used; permanent: it is not there, or not inside `folders`;
// transient: it changed while it was read, or it lacks something that a living writer may be about
// to write. The step of the result is the one in its own name.
Result<Candidate> verify_foreign(const std::filesystem::path& path, const Folders& folders,
                                 Writer writer = Writer::gone);

struct Skipped {
  Candidate candidate;
  std::string reason;
};
struct Selection {
  std::optional<Candidate> chosen;  // empty: nothing to resume from
  std::vector<Skipped> skipped;     // newest first; they stay where they are
};

// The first of `candidates`, whose order is kept, that verifies and is of a step before
// `below_step` (0: any). Nobody writes. Kind transient when a newer one cannot be read just now.
Result<Selection> select_foreign(std::vector<Candidate> candidates, const Folders& folders,
                                 std::int64_t below_step);

}  // namespace trainward::foreign
