#include "supervisor/tracking/credential.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::tracking {
namespace {

constexpr std::size_t longest = 8 * 1024;

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): none is set
  return value == nullptr ? std::string() : std::string(trim(value));
}

Result<std::string> read_private(const std::filesystem::path& path) {
  auto file = open_regular(path, O_RDONLY | O_CLOEXEC);
  if (!file) return propagate(file);
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return fail_errno(errno, "look at it", path.string());
  if ((info.st_mode & 077) != 0) {
    return fail(ErrorKind::permanent, "may be read or written by others than its owner",
                path.string(), fmt::format("`chmod 600 {}`", path.string()));
  }
  std::string text(longest, '\0');
  auto size = read_at(file->get(), std::as_writable_bytes(std::span(text)), 0, path);
  if (!size) return propagate(size);
  std::string out(trim(std::string_view(text).substr(0, *size)));
  ::explicit_bzero(text.data(), text.size());
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      three = three << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool there = i + j <= bytes.size();
      out += there ? letters[three >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace

Result<std::string> authorization(const std::string& named) {
  constexpr std::string_view variable = "env:";
  std::string secret;
  if (named.empty()) {
    secret = environment("MLFLOW_TRACKING_TOKEN");
    const std::string user = environment("MLFLOW_TRACKING_USERNAME");
    if (secret.empty() && user.empty()) return secret;
    if (secret.empty()) secret = user + ":" + environment("MLFLOW_TRACKING_PASSWORD");
  } else if (named.starts_with(variable)) {
    secret = environment(named.substr(variable.size()));
    if (secret.empty()) {
      return fail(ErrorKind::permanent, "the variable is not set", named.substr(variable.size()),
                  "it is one of trainwardd's environment");
    }
  } else {
    const std::string folder = environment("CREDENTIALS_DIRECTORY");
    const bool a_name = named.find('/') == std::string::npos && !folder.empty();
    auto read =
        read_private(a_name ? std::filesystem::path(folder) / named : std::filesystem::path(named));
    if (!read) return read;
    secret = std::move(*read);
    if (secret.empty()) return fail(ErrorKind::permanent, "is empty", named);
  }
  const bool printable = std::all_of(secret.begin(), secret.end(),
                                     [](unsigned char c) { return c >= ' ' && c != 0x7f; });
  if (!printable) {
    return fail(ErrorKind::permanent, "is not one line of text", named,
                "a token, or `user:password`");
  }
  if (secret.find(':') != std::string::npos) return "Basic " + base64(secret);
  return "Bearer " + secret;
}

}  // namespace trainward::tracking
