#include "supervisor/courier/jobs/channels/values.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "common/base/digest.hpp"
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

std::string way_of(const orders::Channel& channel) {
  std::string all(orders::facts(channel.kind).name);
  for (const auto& [key, text] : channel.texts) all += fmt::format("\n{}={}", key, text);
  for (const auto& [key, words] : channel.words) {
    all += "\n" + key;
    for (const std::string& word : words) all += fmt::format("\n={}", word);
  }
  for (const auto& [key, secret] : channel.secrets) {
    all += "\n" + key;
    if (secret.file.empty()) {
      all += fmt::format(" {} {}", secret.variable, ::getpid());
    } else {
      all += fmt::format(" {} {}", secret.file, secret_stamp(secret.file));
    }
  }
  return sha256_hex(all).substr(0, 16);
}

}  // namespace trainward::courier
