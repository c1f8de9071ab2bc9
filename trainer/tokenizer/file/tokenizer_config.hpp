// tokenizer_config.json, which lies beside a tokenizer.json and may say otherwise than its
// post-processor what belongs around a text.
//
// In: its text, at most 16 MiB. Out: the members that matter here; all others are left to those who
// know them. Errors: corrupt, when it is no JSON object or such a member is of another type; usage,
// when a token is to be added that the tokenizer does not have. Each names the key.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {

struct TokenizerConfig {
  std::optional<bool> add_bos;  // nothing: as the post-processor does
  std::optional<bool> add_eos;
  std::optional<std::string> bos;  // the texts of the tokens
  std::optional<std::string> eos;
};

Result<TokenizerConfig> parse_tokenizer_config(std::string_view text);

std::filesystem::path config_path(const std::filesystem::path& folder);

// The config of this folder; empty if the file is missing. Errors also: permanent, if unreadable.
Result<TokenizerConfig> read_tokenizer_config(const std::filesystem::path& folder);

// What it says takes the place of the post-processor's tokens on that side.
Status apply(const TokenizerConfig& config, TokenizerFile& file);

}  // namespace trainward::trainer
