// Where the kernel does not tell of every change of a file, or of none, and files are looked at
// instead.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainward::daemon {

// File systems whose changes are not all told by inotify, since other hosts write to them, or
// layers below: the name ("nfs", "overlay", …) when `path` lies on one.
std::optional<std::string> silent_file_system(const std::filesystem::path& path);

// Of inotify_add_watch: the path is to blame, and not the kernel's limits.
bool is_of_the_path(int error);

// Of inotify_add_watch or inotify_init1: the limit that is used up and its value, for an event, and
// what the operator can do about it.
std::string why_polled(int error);

}  // namespace trainward::daemon
