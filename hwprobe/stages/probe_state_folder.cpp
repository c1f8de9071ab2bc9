#include "hwprobe/stages/probe_state_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

namespace trainward::hwprobe {
namespace {

namespace fs = std::filesystem;

Status make(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail_errno(errno, "make", folder.string());
  }
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) return fail_errno(errno, "look at", folder.string());
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid()) {
    return fail(ErrorKind::permanent, "is not a folder of this user", folder.string());
  }
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0) {
    return fail_errno(errno, "write into", folder.string());
  }
  return {};
}

}  // namespace

Result<fs::path> default_state_folder() {
  std::vector<fs::path> folders;
  if (::geteuid() == 0) folders.emplace_back("/run/trainward-probe");
  // NOLINTNEXTLINE(concurrency-mt-unsafe): programs that call this have one thread
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
    folders.push_back(fs::path(runtime) / "trainward-probe");
  }
  std::error_code error;
  if (const fs::path temporary = fs::temp_directory_path(error); !error) {
    folders.push_back(temporary / fmt::format("trainward-probe-{}", ::geteuid()));
  }
  Status last = fail(ErrorKind::permanent, "no folder for the state of the probe");
  for (const fs::path& folder : folders) {
    last = make(folder);
    if (last) return folder;
  }
  last.error().hint = "name one with --state FOLDER";
  return propagate(last);
}

}  // namespace trainward::hwprobe
