// What of a program's variables and arguments is for its owner's eyes. A guess, by names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainward::config {

// What stands in the place of a secret.
inline constexpr const char* hidden = "(hidden)";

// Whether a variable, option or setting ("wandb.key") of this name and value is a secret: a token,
// password or key, or an address with a password in it. A tokenizer is not a secret, nor is an
// amount of tokens.
bool looks_secret(std::string_view name, std::string_view value);

// Whether a text that stands where a file's path belongs may be what belongs into that file.
bool may_be_a_secret(std::string_view text);

// The same arguments with `hidden` for the values of --token VALUE, --token=VALUE and TOKEN=VALUE,
// also within a shell's script (sh -c "…"), and of headers ("Authorization: …").
std::vector<std::string> without_secrets(const std::vector<std::string>& words);

}  // namespace trainward::config
