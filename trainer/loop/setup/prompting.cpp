#include "trainer/loop/setup/prompting.hpp"

#include <ranges>
#include <utility>

#include "checkpoint/huggingface/model/folder_path.hpp"
#include "checkpoint/huggingface/model/model_folder.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
namespace hf = checkpoint::huggingface;

// "<s>", or {"content": "<s>", …}
std::string token_text(const json::object& config, std::string_view key) {
  const json::value* found = config.if_contains(key);
  if (found == nullptr) return {};
  if (found->is_object()) return string_or(found->get_object(), "content", "");
  return string_or(config, key, "");
}

tl::unexpected<Error> of_key(Error error, std::string_view key) {
  error.where = error.where.empty() ? fmt::format("training_config.{}", key)
                                    : fmt::format("training_config.{}: {}", key, error.where);
  // The user has to repair the file or name another.
  error.kind = ErrorKind::usage;
  return tl::unexpected(std::move(error));
}

struct ModelPlaces {
  std::string tokenizer;  // as open_tokenizer() takes it
  fs::path folder;        // with the model's tokenizer files; may be empty
};

ModelPlaces places_of(const WorkerConfig& config) {
  const bool named = config.tokenizer != "byte";
  if (config.base_model.empty()) {
    return {config.tokenizer, named ? fs::path(config.tokenizer).parent_path() / "" : fs::path()};
  }
  const fs::path folder = hf::folder_path(config.base_model);
  return {named ? config.tokenizer : (folder / "tokenizer.json").string(), folder};
}

// Where the folder does not name its tokens, the tokenizer knows two of them.
void complete(TemplateTokens& tokens, const Tokenizer& tokenizer) {
  const auto text_of = [&](TokenId id) {
    auto text = tokenizer.decode(std::span(&id, 1), {.begins = false, .special = true});
    return text ? std::move(*text) : std::string();
  };
  const auto before = tokenizer.before_text();
  if (tokens.bos.empty() && !before.empty()) tokens.bos = text_of(before.front());
  if (tokens.eos.empty()) tokens.eos = text_of(tokenizer.end_of_text());
}

bool is_own(const std::string& name, const FolderPrompts& prompts) {
  return name == "template" || (name == "auto" && !prompts.chat_template.empty());
}

Status check_variables(const WorkerConfig& config, const FolderPrompts& prompts) {
  const std::string& name = config.prompt_format;
  if (config.template_variables.empty() || is_own(name, prompts)) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} for the model's own template, and {}",
                          fmt::join(std::views::keys(config.template_variables), ", "),
                          name == "auto" ? "its folder has none" : "prompt_format is " + name),
              "", "leave template_variables out, or put chat_template.jinja into the folder");
}

Result<std::shared_ptr<const PromptFormat>> choose_format(const WorkerConfig& config,
                                                          const FolderPrompts& prompts,
                                                          const json::object& variables) {
  const std::string& name = config.prompt_format;
  if (name == "template" && prompts.chat_template.empty()) {
    return fail(ErrorKind::usage, "is template, and the model's folder has none", "",
                fmt::format("put chat_template.jinja there, or choose one of: {}",
                            fmt::join(built_in_format_names(), ", ")));
  }
  if (is_own(name, prompts)) {
    return own_format(prompts.chat_template, prompts.tokens, variables);
  }
  return built_in_format(name == "auto" ? "plain" : name, prompts.tokens);
}

// What ends an answer: the end token first.
struct Ends {
  std::vector<TokenId> tokens;
  std::vector<TokenId> last_letters;  // of ends that are no token
  std::string lost;                   // the first of these
};

// The last token of an end counts where it is one of the added ones, and no letter that answers are
// full of: what looks for no added tokens finds another there.
Result<Ends> ends_of(Tokenizer& tokenizer, const PromptFormat& format, const std::string& eos) {
  Ends ends{{tokenizer.find_token(eos).value_or(tokenizer.end_of_text())}, {}, {}};
  for (const std::string& text : format.ends()) {
    std::vector<TokenId> ids;
    std::vector<TokenId> letters;
    if (auto ok = tokenizer.encode(text, ids, {.begins = false}); !ok) return propagate(ok);
    if (auto ok = tokenizer.encode(text, letters, {.begins = false, .special = false}); !ok) {
      return propagate(ok);
    }
    if (ids.empty() || ids.back() == ends.tokens.front()) continue;
    if (letters.empty() || ids.back() != letters.back()) {
      ends.tokens.push_back(ids.back());
    } else {
      ends.last_letters.push_back(ids.back());
      if (ends.lost.empty()) ends.lost = text;
    }
  }
  return ends;
}

// Of all that decides the tokens of examples, in the words of the first edition.
std::string digest_of(const Prompting& prompting, const Ends& ends) {
  std::string text = fmt::format("trainward prompts 1\ntokenizer {}\nformat {}\n",
                                 prompting.tokenizer->digest(), prompting.format->digest_text());
  if (prompting.rules.turns_begin) {
    for (const TokenId id : prompting.rules.beginning) text += fmt::format("begins {}\n", id);
  }
  for (const TokenId id : ends.tokens) text += fmt::format("ends {}\n", id);
  for (const TokenId id : ends.last_letters) text += fmt::format("ends {}\n", id);
  return sha256_hex(text);
}

}  // namespace

Result<FolderPrompts> read_folder_prompts(const fs::path& folder) {
  FolderPrompts prompts;
  auto read = hf::read_object(folder / "tokenizer_config.json", hf::max_tokenizer_config_bytes);
  if (!read) return propagate(read);
  const json::object config = std::move(*read).value_or(json::object());
  prompts.tokens = {token_text(config, "bos_token"), token_text(config, "eos_token"),
                    token_text(config, "unk_token"), token_text(config, "pad_token")};
  auto chat = hf::read_chat_template(folder, config);
  if (!chat) return propagate(chat);
  prompts.chat_template = std::move(*chat).value_or("");
  return prompts;
}

Result<Prompting> open_prompting(const WorkerConfig& config, const std::string& chat_template) {
  const ModelPlaces places = places_of(config);
  FolderPrompts prompts;
  if (!places.folder.empty()) {
    auto read = read_folder_prompts(places.folder);
    if (!read) return of_key(std::move(read).error(), "prompt_format");
    prompts = std::move(*read);
  }
  if (!chat_template.empty()) prompts.chat_template = chat_template;
  Prompting out;
  auto tokenizer =
      open_tokenizer(places.tokenizer, config.end_of_text.empty() && places.tokenizer != "byte"
                                           ? prompts.tokens.eos
                                           : config.end_of_text);
  if (!tokenizer) {
    const bool of_end = tokenizer.error().where == "end_of_text";
    if (of_end) tokenizer.error().where.clear();
    if (config.tokenizer == "byte" && !places.folder.empty() && !hf::is_there(places.tokenizer)) {
      return of_key(Error{ErrorKind::usage, "holds no tokenizer.json", places.folder.string(),
                          "copy the model's there, or name one in training_config.tokenizer"},
                    "base_model");
    }
    return of_key(std::move(tokenizer).error(), of_end ? "end_of_text" : "tokenizer");
  }
  out.tokenizer = std::move(*tokenizer);
  complete(prompts.tokens, *out.tokenizer);
  if (auto ok = check_variables(config, prompts); !ok) {
    return of_key(std::move(ok).error(), "template_variables");
  }
  out.template_variables = {config.template_variables.begin(), config.template_variables.end()};
  auto format = choose_format(config, prompts, out.template_variables);
  if (!format) return of_key(std::move(format).error(), "prompt_format");
  out.format = std::move(*format);
  auto ends = ends_of(*out.tokenizer, *out.format, prompts.tokens.eos);
  if (!ends) return of_key(std::move(ends).error(), "prompt_format");
  // The model's own template also tells serving tools how a conversation begins.
  const bool begins = config.edition == 1 || !is_own(config.prompt_format, prompts) ||
                      out.format->writes_beginning();
  out.rules = {out.tokenizer->before_text(), ends->tokens, config.train_on_prompts, begins};
  out.lost_end = ends->lost;
  if (begins && !out.rules.beginning.empty()) {
    out.beginning = out.rules.beginning.front();
  } else if (out.format->writes_beginning()) {
    out.beginning = out.tokenizer->find_token(prompts.tokens.bos);
  }
  out.digest = digest_of(out, *ends);
  return out;
}

}  // namespace trainward::trainer
