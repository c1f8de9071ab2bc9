#include "supervisor/courier/channels/values.hpp"

#include <string>
#include <utility>

#include "common/os/secret_file.hpp"

namespace trainward::courier {
namespace {

Result<std::string> secret_of(const orders::Secret& secret) {
  if (!secret.file.empty()) return read_secret(secret.file);
  std::string value = secret_variable(secret.variable);
  if (!value.empty()) return value;
  return fail(ErrorKind::permanent, "this variable is not set in the environment", secret.variable,
              "or name a file of mode 600 instead");
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
