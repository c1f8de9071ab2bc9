#include "common/os/credentials.hpp"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace trainward {
namespace {

// The C library's setgroups() is for all threads of the process; the kernel's for this one.
bool set_groups_of_thread(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// Neither call reports success; passing this value returns the current id and changes nothing.
constexpr uid_t ask = static_cast<uid_t>(-1);

std::vector<gid_t> groups_of_thread() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return groups;
}

}  // namespace

ActingAs::ActingAs(const std::optional<Credentials>& who) {
  if (!who || ::geteuid() != 0 || who->user == 0) return;
  groups_before_ = groups_of_thread();
  changed_ = set_groups_of_thread(who->groups);
  if (changed_) {
    ::setfsgid(who->group);
    ::setfsuid(who->user);  // the last: with it goes the right to change the others
    as_asked_ = static_cast<uid_t>(::setfsuid(ask)) == who->user &&
                static_cast<gid_t>(::setfsgid(ask)) == who->group;
  } else {
    as_asked_ = false;
  }
}

ActingAs::~ActingAs() {
  if (!changed_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  (void)set_groups_of_thread(groups_before_);
}

}  // namespace trainward
