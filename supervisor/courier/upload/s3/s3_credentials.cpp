#include "supervisor/courier/upload/s3/s3_credentials.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/secret_file.hpp"

namespace trainward::upload::s3 {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view gaps = " \t\r\n";
  std::vector<std::string_view> out;
  while (true) {
    const auto begin = text.find_first_not_of(gaps);
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const auto end = std::min(text.find_first_of(gaps), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Of the section "default", or of what stands before any section.
Keys keys_by_name(std::string_view text) {
  Keys keys;
  bool counts = true;
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    if (line.starts_with('[')) counts = line == "[default]";
    const auto equals = line.find('=');
    if (!counts || equals == std::string_view::npos || line.starts_with('#')) continue;
    const std::string_view name = trim(line.substr(0, equals));
    const std::string value(trim(line.substr(equals + 1)));
    if (name == "aws_access_key_id") keys.id = value;
    if (name == "aws_secret_access_key") keys.secret = value;
    if (name == "aws_session_token") keys.session = value;
  }
  return keys;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

Result<Keys> read_keys(const std::string& file) {
  if (file.empty()) {
    Keys keys{secret_variable("AWS_ACCESS_KEY_ID"), secret_variable("AWS_SECRET_ACCESS_KEY"),
              secret_variable("AWS_SESSION_TOKEN")};
    if (!keys.id.empty() && !keys.secret.empty()) return keys;
    return fail(
        ErrorKind::permanent, "there are no keys for the S3 server", {},
        "write a file of mode 600 with aws_access_key_id and aws_secret_access_key and name "
        "it in s3.credentials_file, or start the daemon with AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY");
  }
  auto text = read_secret(file);
  if (!text) return propagate(text);
  Keys keys = keys_by_name(*text);
  if (keys.id.empty() && keys.secret.empty() && text->find('=') == text->rfind('=')) {
    const auto words = words_of(*text);
    if (words.size() == 2) keys = {std::string(words[0]), std::string(words[1]), ""};
  }
  if (!keys.id.empty() && !keys.secret.empty() && is_plain(keys.id) && is_plain(keys.secret) &&
      is_plain(keys.session)) {
    return keys;
  }
  return fail(ErrorKind::permanent, "has no pair of keys", file,
              "it is to hold `aws_access_key_id = …` and `aws_secret_access_key = …`, a line each");
}

}  // namespace trainward::upload::s3
