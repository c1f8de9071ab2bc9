// Taking what a dead worker has left in memory from its keeper.
//
// The keeper (supervisor/process/shim/memory/state_keeper.hpp) listens in the program's folder,
// where only its user, and root, may write. A process that connects is sent the descriptors; when
// it answers that it has them, the keeper ends, and so exactly one has them. One that dies before
// it has answered leaves them with the keeper. Neither gives them to another user nor takes them
// from one.
#pragma once

#include <sys/types.h>

#include <array>
#include <filesystem>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

using KeptState = std::array<Fd, 2>;  // memfds

inline constexpr std::size_t kept_descriptors = std::tuple_size_v<KeptState>;
inline constexpr char kept_answer = 'k';
inline constexpr int kept_wait_ms = 2'000;  // either side for the other

// From the keeper of the program whose folder this is. Kind permanent: nobody keeps anything;
// transient: who does has not answered in time. What is not used is gone when it is closed.
Result<KeptState> take_kept_state(const std::filesystem::path& program_folder);

// A memfd of this user: what somebody else could have made is not trusted.
bool is_state_of(int fd, uid_t user);

}  // namespace trainward
