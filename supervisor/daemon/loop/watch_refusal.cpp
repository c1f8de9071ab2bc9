#include "supervisor/daemon/loop/watch_refusal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::daemon {
namespace {

std::string limit_text(const std::string& name) {
  const auto value = read_file("/proc/sys/fs/inotify/" + name, 64);
  return fmt::format("fs.inotify.{} is {}", name, value ? trim(*value) : "unknown here");
}

}  // namespace

bool is_of_the_path(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG ||
         error == EACCES;
}

std::string why_polled(int error) {
  constexpr const char* meaning =
      "; files are looked at once a second instead: all is seen, up to a second later, and this "
      "costs some processor time";
  if (error == EMFILE || error == ENFILE) {
    return fmt::format("the kernel lets this user watch no more files ({}){}; raise it with sysctl",
                       limit_text("max_user_instances"), meaning);
  }
  if (error == ENOSPC || error == ENOMEM) {
    return fmt::format("the kernel gives no more watches of files ({}){}; raise it with sysctl",
                       limit_text("max_user_watches"), meaning);
  }
  return fmt::format("files cannot be watched here: {}{}", std::generic_category().message(error),
                     meaning);
}

}  // namespace trainward::daemon
