#include "supervisor/courier/tracking/credential.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/base/base64.hpp"
#include "common/os/secret_file.hpp"

namespace trainward::tracking {

Result<std::string> authorization(const std::string& named) {
  constexpr std::string_view variable = "env:";
  std::string secret;
  if (named.empty()) {
    secret = secret_variable("MLFLOW_TRACKING_TOKEN");
    const std::string user = secret_variable("MLFLOW_TRACKING_USERNAME");
    if (secret.empty() && user.empty()) return secret;
    if (secret.empty()) secret = user + ":" + secret_variable("MLFLOW_TRACKING_PASSWORD");
  } else if (named.starts_with(variable)) {
    secret = secret_variable(named.substr(variable.size()));
    if (secret.empty()) {
      return fail(ErrorKind::permanent, "the variable is not set", named.substr(variable.size()),
                  "it is one of trainwardd's environment");
    }
  } else {
    const std::string folder = secret_variable("CREDENTIALS_DIRECTORY");
    const bool a_name = named.find('/') == std::string::npos && !folder.empty();
    auto read =
        read_secret(a_name ? std::filesystem::path(folder) / named : std::filesystem::path(named));
    if (!read) return read;
    secret = std::move(*read);
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
