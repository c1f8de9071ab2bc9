// A user by numbers, and a thread that acts on files as that user.
//
// What a less privileged program owns is full of names it may turn into links at any moment. A
// supervisor that is root opens, renames and removes there as that user, so that no name leads it
// to anything which that user could not reach alone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <type_traits>
#include <vector>

#include "common/base/error.hpp"

namespace trainward {

struct Credentials {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // supplementary, all of them
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

// As long as it lives, this thread's access to files is that of `who`; other threads, signals and
// the process's own identity are not concerned. Threads begun meanwhile inherit it. Nothing is
// changed without `who`, when this process is not root, or when `who` is root.
//
// False when the kernel refused (no CAP_SETUID, a user it does not map): then nothing may be done
// in the name of `who`, and the caller must not continue as root.
class ActingAs {
 public:
  explicit ActingAs(const std::optional<Credentials>& who);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

  explicit operator bool() const { return as_asked_; }

 private:
  bool changed_ = false;
  bool as_asked_ = true;
  std::vector<gid_t> groups_before_;
};

// What `work` returns (a Result or Status), done as `who`. Kind transient: the kernel refused.
template <typename Work>
auto acting_as(const std::optional<Credentials>& who, const Work& work)
    -> std::invoke_result_t<Work> {
  const ActingAs acting(who);
  if (acting) return work();
  return fail(ErrorKind::transient, fmt::format("this process may not act as user {}", who->user),
              "", "it needs CAP_SETUID and CAP_SETGID for that");
}

}  // namespace trainward
