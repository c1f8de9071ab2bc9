#include "common/os/user.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/number_in.hpp"

namespace trainward {
namespace {

constexpr std::chrono::seconds patience{5};
constexpr std::size_t most_entry_bytes = 1 << 20;  // of a group with very many members
constexpr int most_groups = 65'536;                // the kernel's own limit
constexpr gid_t nogroup = 65'534;

std::optional<std::uint32_t> id_in(const std::string& text) {
  const auto number = number_in<std::uint32_t>(text);
  // The last number means "none" to the kernel.
  return number != UINT32_MAX ? number : std::nullopt;
}

// Calls `ask(buffer, size)` with a larger buffer until it does not answer ERANGE.
template <typename Ask>
int with_room(std::vector<char>& room, Ask ask) {
  int problem = ERANGE;
  for (room.resize(4096); problem == ERANGE && room.size() <= most_entry_bytes;
       room.resize(room.size() * 4)) {
    problem = ask(room.data(), room.size());
    if (problem != ERANGE) break;
  }
  return problem;
}

Result<std::optional<User>> entry_of(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> room;
  int problem = with_room(room, [&](char* text, std::size_t size) {
    return ::getpwnam_r(user.c_str(), &entry, text, size, &found);
  });
  const auto number = id_in(user);
  if (found == nullptr && number) {
    problem = with_room(room, [&](char* text, std::size_t size) {
      return ::getpwuid_r(*number, &entry, text, size, &found);
    });
  }
  if (found != nullptr) {
    return std::optional<User>(
        User{found->pw_name, found->pw_dir, found->pw_shell, {found->pw_uid, found->pw_gid, {}}});
  }
  // A user database that has no such user says so in many ways (getpwnam(3)).
  if (problem == EIO || problem == EMFILE || problem == ENFILE || problem == ENOMEM) {
    return fail_errno(problem, "ask the user database for", user);
  }
  return std::optional<User>();
}

Result<gid_t> group_of(const std::string& group) {
  struct group entry {};
  struct group* found = nullptr;
  std::vector<char> room;
  (void)with_room(room, [&](char* text, std::size_t size) {
    return ::getgrnam_r(group.c_str(), &entry, text, size, &found);
  });
  if (found != nullptr) return found->gr_gid;
  if (const auto number = id_in(group)) return *number;
  return fail(ErrorKind::usage, fmt::format("there is no group '{}' on this machine", group));
}

std::vector<gid_t> all_groups(const std::string& name, gid_t main) {
  std::vector<gid_t> groups(64);
  for (;;) {
    int count = static_cast<int>(groups.size());
    const int got = ::getgrouplist(name.c_str(), main, groups.data(), &count);
    const bool all = got >= 0 || count > most_groups;
    groups.resize(static_cast<std::size_t>(std::clamp(count, 0, most_groups)));
    if (all) break;
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

Result<User> look_up(const std::string& user, const std::string& group) {
  auto entry = entry_of(user);
  if (!entry) return propagate(entry);
  const auto number = id_in(user);
  if (!*entry && !number) {
    return fail(ErrorKind::usage, fmt::format("there is no user '{}' on this machine", user));
  }
  if (!*entry && group.empty()) {
    return fail(ErrorKind::usage,
                fmt::format("user {} has no name on this machine, and so no group", user), "",
                "give one with 'group:'");
  }
  const bool named = entry->has_value();
  User out = named ? std::move(**entry) : User{user, "", "", {*number, 0, {}}};
  if (!group.empty()) {
    auto main = group_of(group);
    if (!main) return propagate(main);
    out.credentials.group = *main;
  }
  out.credentials.groups = named ? all_groups(out.name, out.credentials.group)
                                 : std::vector<gid_t>{out.credentials.group};
  return out;
}

}  // namespace

Result<User> find_user(const std::string& user, const std::string& group) {
  // On a thread that is left to itself: a directory service that is down may take minutes to say
  // so.
  auto answer = std::make_shared<std::promise<Result<User>>>();
  auto coming = answer->get_future();
  std::thread([answer, user, group] { answer->set_value(look_up(user, group)); }).detach();
  if (coming.wait_for(patience) == std::future_status::ready) return coming.get();
  return fail(
      ErrorKind::transient,
      fmt::format("the user database did not say within {} s who '{}' is", patience.count(), user),
      "", "see whether `getent passwd` answers");
}

Result<Credentials> credentials_of(uid_t user) {
  auto found = find_user(std::to_string(user));
  if (found) return std::move(found->credentials);
  if (found.error().kind != ErrorKind::usage) return propagate(found);
  return Credentials{user, nogroup, {}};
}

std::string name_of_user(uid_t user) {
  const std::string number = std::to_string(user);
  const auto found = find_user(number, "0");
  if (!found || found->name == number) return "user " + number;
  return fmt::format("user {} ({})", found->name, number);
}

Status may_run_as(const User& who) {
  const uid_t self = ::geteuid();
  const Credentials& wanted = who.credentials;
  if (self == 0) {
    bool may = false;
    std::thread([&] { may = static_cast<bool>(ActingAs(wanted)); }).join();
    if (may) return {};
    return fail(ErrorKind::permanent,
                fmt::format("this process is root and may not become '{}'", who.name), "",
                "it lacks CAP_SETUID or CAP_SETGID, or is in a container that does not know this "
                "user");
  }
  if (wanted.user == self && wanted.group == ::getegid()) return {};
  return fail(
      ErrorKind::permanent,
      fmt::format("only root may start programs as user '{}' with group {}, and this is user {} "
                  "with group {}",
                  who.name, wanted.group, self, ::getegid()),
      "", "run trainwardd as root, as its systemd unit does, or leave 'user' and 'group' out");
}

}  // namespace trainward
