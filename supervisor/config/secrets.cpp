#include "supervisor/config/secrets.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace trainward::config {

bool looks_secret(std::string_view name, std::string_view value) {
  std::string word(name);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  for (const char* part : {"TOKEN", "SECRET", "PASSW", "APIKEY", "CREDENTIAL", "AUTH", "PRIVATE"}) {
    if (word.find(part) != std::string::npos) return true;
  }
  for (const char* end : {"_KEY", "_PASS", "_PW", "_DSN"}) {
    if (word.ends_with(end)) return true;
  }
  // scheme://user:password@host/
  const auto scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view rest = value.substr(scheme + 3);
  const std::string_view host = rest.substr(0, rest.find('/'));
  const auto at = host.rfind('@');
  return at != std::string_view::npos && host.substr(0, at).find(':') != std::string_view::npos;
}

std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool next_is_secret = false;
  for (const std::string& word : words) {
    const bool option = word.starts_with('-');
    const auto equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const std::string_view value = equals == std::string::npos
                                       ? std::string_view()
                                       : std::string_view(word).substr(equals + 1);
    if ((next_is_secret && !option) || (equals == std::string::npos && looks_secret("", word))) {
      out.emplace_back(hidden);
    } else if (equals != std::string::npos && looks_secret(name, value)) {
      out.push_back(std::string(name) + "=" + hidden);
    } else {
      out.push_back(word);
    }
    next_is_secret = option && equals == std::string::npos && looks_secret(word, "");
  }
  return out;
}

}  // namespace trainward::config
