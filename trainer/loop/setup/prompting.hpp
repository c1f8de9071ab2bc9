// With which words and tokens a model is asked, as its folder and the configuration say.
//
// In: the configuration; tokenizer.json, tokenizer_config.json and chat_template.jinja of the base
// model's folder, or of the folder of the tokenizer that is named. Out: the tokenizer, the prompt
// format, and what stands around an example. `prompt_format`: auto is the folder's own template
// where it has one, and plain where not; template is the folder's, and an error without; else one
// of the built-in ones. `template_variables` are handed to the folder's template, and refused where
// it is not used. Errors: usage, naming the key of the configuration or the file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/chat/prompt_format.hpp"
#include "trainer/data/examples/example_encoder.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct Prompting {
  std::unique_ptr<Tokenizer> tokenizer;
  std::shared_ptr<const PromptFormat> format;
  EncoderRules rules;
  // What ends an answer in this format but is not a token of this tokenizer, so generation cannot
  // stop there; empty: all is well.
  std::string lost_end;
  // What every example has once, at its front; none: this model has none.
  std::optional<TokenId> beginning;
  json::object template_variables;  // that the format was given
  // Of all that decides the tokens of an example.
  std::string digest;
};

// `chat_template`: in place of the folder's, unless it is empty.
Result<Prompting> open_prompting(const WorkerConfig& config, const std::string& chat_template = {});

// What a model's folder says of its prompts; members are empty where it says nothing.
struct FolderPrompts {
  TemplateTokens tokens;
  std::string chat_template;
};
Result<FolderPrompts> read_folder_prompts(const std::filesystem::path& folder);

}  // namespace trainward::trainer
