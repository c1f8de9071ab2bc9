// Bytes that descriptors come along with, between processes over a Unix socket (SCM_RIGHTS).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

inline constexpr std::size_t most_passed = 128;  // descriptors with one message

// All of it or an error, also where the other end is gone; no signal. `flags`: of sendmsg().
Status send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors,
                             int flags = 0);

struct Passed {
  std::string bytes;  // empty: the other end is closed
  std::vector<Fd> descriptors;
};
// What one recvmsg() gives, of at most so many bytes. The descriptors are close-on-exec.
Result<Passed> receive_with_descriptors(int socket, std::size_t most_bytes, int flags = 0);

}  // namespace trainward
