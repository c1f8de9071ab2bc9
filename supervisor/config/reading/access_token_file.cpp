#include "supervisor/config/reading/access_token_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/os/secret_file.hpp"
#include "supervisor/config/reading/config_reading.hpp"

namespace trainward::config {
namespace {

constexpr std::size_t longest_token = 512;
constexpr std::size_t longest_name = 31;
constexpr std::size_t longest_file = 64 * 1024;

// What is wrong with the words of a line, without any of them; empty: nothing.
std::string wrong_with(const std::optional<std::string_view>& name, std::string_view token) {
  if (token.size() < shortest_token) {
    return fmt::format("has a token of {} characters; {} are the least", token.size(),
                       shortest_token);
  }
  if (token.size() > longest_token) {
    return fmt::format("has a token of {} characters; {} are the most", token.size(),
                       longest_token);
  }
  if (!consists_of(token, "-._~+/=")) {
    return "has a token with other characters than letters, digits and - . _ ~ + / =";
  }
  if (!name) return {};
  if (name->size() > longest_name || !consists_of(*name, "-._")) {
    return fmt::format(
        "has an invalid name: at most {} letters, digits, dots, hyphens and underlines",
        longest_name);
  }
  return {};
}

// Bytes stay nowhere but in `text`, which the caller wipes.
Result<std::string> read_private(const std::filesystem::path& path) {
  auto file = open_regular(path, O_RDONLY | O_CLOEXEC);
  if (!file) return propagate(file);
  if (auto ok = check_private(file->get(), path); !ok) return propagate(ok);
  std::string text(longest_file + 1, '\0');
  auto size = read_at(file->get(), std::as_writable_bytes(std::span(text)), 0, path);
  if (!size) return propagate(size);
  if (*size > longest_file) {
    return fail(ErrorKind::usage, "is longer than 64 KiB", path.string(),
                "a file of tokens has a line each");
  }
  text.resize(*size);
  return text;
}

Result<std::vector<Token>> tokens_in(std::string_view text, const std::filesystem::path& path,
                                     bool operates, std::string_view without_name) {
  std::vector<Token> tokens;
  int number = 0;
  int nameless = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto gap = line.find_first_of(" \t");
    const bool named = gap != std::string_view::npos;
    const std::string_view token = named ? trim(line.substr(gap)) : line;
    const auto name = named ? std::optional(line.substr(0, gap)) : std::nullopt;
    if (auto wrong = wrong_with(name, token); !wrong.empty()) {
      return fail(
          ErrorKind::usage, fmt::format("line {} {}", number, wrong), path.string(),
          "a line is `NAME TOKEN` or a token; `head -c 32 /dev/urandom | base64` makes one");
    }
    if (!named) ++nameless;
    const std::string otherwise =
        nameless > 1 ? fmt::format("{}-{}", without_name, nameless) : std::string(without_name);
    tokens.push_back({name ? std::string(*name) : otherwise, sha256_hex(token), operates});
  }
  if (tokens.empty()) {
    return fail(ErrorKind::usage, "has no token", path.string(),
                "`(umask 077; head -c 32 /dev/urandom | base64 > FILE)` makes one");
  }
  return tokens;
}

}  // namespace

Result<std::vector<Token>> read_tokens(const std::filesystem::path& path, bool operates,
                                       std::string_view without_name) {
  auto text = read_private(path);
  if (!text) return propagate(text);
  auto tokens = tokens_in(*text, path, operates, without_name);
  std::string& secret = *text;
  ::explicit_bzero(secret.data(), secret.size());
  return tokens;
}

}  // namespace trainward::config
