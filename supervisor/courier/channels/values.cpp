#include "supervisor/courier/channels/values.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <span>
#include <string>

#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::courier {
namespace {

constexpr std::size_t longest_secret = 16 * 1024;

Result<std::string> secret_in_file(const std::string& path) {
  auto file = open_regular(path, O_RDONLY | O_CLOEXEC);
  if (!file) return propagate(file);
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return fail_errno(errno, "look at it", path);
  if ((info.st_mode & 077) != 0) {
    return fail(ErrorKind::permanent, "may be read or written by others than its owner", path,
                fmt::format("`chmod 600 {}`", path));
  }
  std::string text(longest_secret + 1, '\0');
  auto size = read_at(file->get(), std::as_writable_bytes(std::span(text)), 0, path);
  if (!size) return propagate(size);
  if (*size > longest_secret) {
    return fail(ErrorKind::usage, "is longer than 16 KiB, so it is no secret", path);
  }
  text.resize(*size);
  return text;
}

Result<std::string> secret_of(const orders::Secret& secret) {
  if (!secret.file.empty()) {
    auto text = secret_in_file(secret.file);
    if (!text) return text;
    if (trim(*text).empty()) return fail(ErrorKind::usage, "is empty", secret.file);
    return std::string(trim(*text));
  }
  const char* value = std::getenv(secret.variable.c_str());
  if (value == nullptr || trim(value).empty()) {
    return fail(ErrorKind::usage, "this variable is not set in the environment of trainwardd",
                secret.variable, "or name a file of mode 600 instead");
  }
  return std::string(trim(value));
}

}  // namespace

Result<Values> values_of(const orders::Channel& channel) {
  Values values;
  for (const auto& [key, text] : channel.texts) values.texts[key] = text;
  for (const auto& [key, words] : channel.words) values.words[key] = words;
  for (const auto& [key, secret] : channel.secrets) {
    auto text = secret_of(secret);
    if (!text) return propagate(text);
    values.texts[key] = std::move(*text);
  }
  return values;
}

}  // namespace trainward::courier
