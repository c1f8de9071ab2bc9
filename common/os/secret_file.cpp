#include "common/os/secret_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/os/user.hpp"

namespace trainward {

Status check_private(int file, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return fail_errno(errno, "look at", path.string());
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return fail(ErrorKind::permanent,
                fmt::format("belongs to {}, who could put another secret in its place",
                            name_of_user(info.st_uid)),
                path.string(), fmt::format("`chown {}: {}`", ::geteuid(), path.string()));
  }
  if ((info.st_mode & 077) == 0) return {};
  return fail(ErrorKind::permanent, "may be read or written by others than its owner",
              path.string(), fmt::format("`chmod 600 {}`", path.string()));
}

Result<std::string> read_secret(const std::filesystem::path& path) {
  constexpr std::size_t longest = 64 * 1024;
  auto file = open_regular(path, O_RDONLY | O_CLOEXEC);
  if (!file) return propagate(file);
  if (auto ok = check_private(file->get(), path); !ok) return propagate(ok);
  std::string text(longest + 1, '\0');
  auto size = read_at(file->get(), std::as_writable_bytes(std::span(text)), 0, path);
  if (!size) return propagate(size);
  if (*size > longest) {
    return fail(ErrorKind::permanent, "is longer than 64 KiB", path.string(),
                "it is to hold a key or a token and nothing else");
  }
  std::string out(trim(std::string_view(text).substr(0, *size)));
  ::explicit_bzero(text.data(), text.size());
  if (out.empty()) return fail(ErrorKind::permanent, "is empty", path.string());
  return out;
}

std::string secret_stamp(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return fmt::format("{}:{}:{}.{}:{}", info.st_dev, info.st_ino, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec, info.st_size);
}

std::string secret_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): none is set
  return value == nullptr ? std::string() : std::string(trim(value));
}

}  // namespace trainward
