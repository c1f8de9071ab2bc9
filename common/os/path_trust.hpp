// Who could change what lies at a path, or make the path lead elsewhere.
//
// A user who owns a folder on the way, or may write into it, can replace what lies there between
// two checks. Checked along the whole way, links followed one by one, by descriptors.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/os/credentials.hpp"

namespace trainward {

// Refuses (permanent, with the chmod to run) a file or folder that every user of the machine may
// write, or put another in the place of because its folder is so. Its owner and its group were
// chosen and are trusted. A missing path passes, and so does a pipe, which a shell made.
Status check_known_writers(const std::filesystem::path& path);

// The first place on the way to `path` that a user other than root could change, by the rules of
// OpenSSH's StrictModes. Folders with the sticky bit, as /tmp, may be written by every user; then
// the owner of what lies in them counts.
struct WeakPlace {
  std::filesystem::path place;
  uid_t owner = 0;
  bool by_group = false;  // may it be written
  bool by_everybody = false;
  [[nodiscard]] bool writable() const { return by_group || by_everybody; }
};
// `way`: all but its end, which is checked only for whether it can be replaced.
enum class Judged { way_and_end, way };
// Nothing: no weak place. As far as `path` exists.
Result<std::optional<WeakPlace>> weakest_place(const std::filesystem::path& path,
                                               Judged judged = Judged::way_and_end);

// With whose rights root works in a folder that the configuration names: those of the user who
// could redirect the path to it, who then gains nothing by doing so. Empty: its own, because nobody
// else could, or because this process is not root. Kind permanent, with the chmod to run, where it
// could be more than one user: a folder on the way is writable by every user, or is root's and
// writable by its group.
Result<std::optional<Credentials>> rights_in(const std::filesystem::path& folder);

// "'/home/a' belongs to user a (1001), who could put something else in its place"
std::string describe(const WeakPlace& place);
// The command that mends one that others may write: "chmod go-w /srv/x". Empty for one that is a
// user's: it is that user's with good reason, and what needs another place is what lies there.
std::string remedy(const WeakPlace& place);

}  // namespace trainward
