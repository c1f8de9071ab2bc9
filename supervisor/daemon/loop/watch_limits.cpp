#include "supervisor/daemon/loop/watch_limits.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::daemon {
namespace {

struct Kind {
  std::uint32_t magic;  // statfs(2), as in linux/magic.h and the sources of what is not in there
  const char* name;
};
constexpr std::array<Kind, 16> silent{{{0x6969, "nfs"},
                                       {0x517b, "smb"},
                                       {0xff534d42, "cifs"},
                                       {0xfe534d42, "smb2"},
                                       {0x65735546, "fuse"},
                                       {0x794c7630, "overlay"},
                                       {0x01021997, "9p"},
                                       {0x00c36400, "ceph"},
                                       {0x0bd00bd0, "lustre"},
                                       {0x47504653, "gpfs"},
                                       {0x19830326, "beegfs"},
                                       {0x5346414f, "afs"},
                                       {0x01161970, "gfs2"},
                                       {0x7461636f, "ocfs2"},
                                       {0x73757245, "coda"},
                                       {0x20030528, "orangefs"}}};

std::string limit_text(const std::string& name) {
  const auto value = read_file("/proc/sys/fs/inotify/" + name, 64);
  return fmt::format("fs.inotify.{} is {}", name, value ? trim(*value) : "unknown here");
}

}  // namespace

std::optional<std::string> silent_file_system(const std::filesystem::path& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return std::nullopt;
  const auto magic = static_cast<std::uint32_t>(info.f_type);
  const auto* found =
      std::find_if(silent.begin(), silent.end(), [&](const Kind& k) { return k.magic == magic; });
  if (found == silent.end()) return std::nullopt;
  return found->name;
}

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
