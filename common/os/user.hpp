// Users and groups of this machine by their names.
#pragma once

#include <string>

#include "common/base/error.hpp"
#include "common/os/credentials.hpp"

namespace trainward {

struct User {
  std::string name;   // the number as text where the user has no name
  std::string home;   // as the user database says; empty: it says none
  std::string shell;  // likewise
  Credentials credentials;
  friend bool operator==(const User&, const User&) = default;
};

// `user` and `group` are names or numbers; `group` takes the place of the user's own main group,
// unless it is empty. A number without an entry in the user database is taken as it is, with no
// other groups, when a group is given. Kind usage: there is no such user or group. Kind transient:
// the user database (which may be on the network) did not answer within five seconds.
Result<User> find_user(const std::string& user, const std::string& group = "");

// Of the user with this number; one that has no entry is in no group. Kind transient as above.
Result<Credentials> credentials_of(uid_t user);

// "user alice (1000)", or "user 1000" when no name is found in time.
std::string name_of_user(uid_t user);

// Whether this process may start programs as `who`, which needs root, unless it is `who`. Kind
// permanent otherwise, with what to do.
Status may_run_as(const User& who);

}  // namespace trainward
