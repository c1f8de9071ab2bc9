#include "trainer/tokenizer/file/tokenizer_config.hpp"

#include <system_error>

#include "common/base/json/json.hpp"
#include "common/os/file.hpp"
#include "trainer/tokenizer/file/read_sequence.hpp"

namespace trainward::trainer {
namespace {

constexpr std::size_t max_config_bytes = std::size_t{16} << 20U;

Status read_flag(const json::object& root, std::string_view key, std::optional<bool>& flag) {
  const json::value* found = member(root, key);
  if (found == nullptr) return {};
  if (!found->is_bool()) {
    return fail(ErrorKind::corrupt,
                fmt::format("is {}, expected true or false", json::serialize(*found)),
                std::string(key));
  }
  flag = found->get_bool();
  return {};
}

// "<s>", or {"content": "<s>", …}
Status read_token(const json::object& root, std::string_view key,
                  std::optional<std::string>& token) {
  const json::value* found = member(root, key);
  if (found == nullptr) return {};
  const json::value* content = found->is_object() ? member(found->get_object(), "content") : found;
  if (content == nullptr || !content->is_string()) {
    return fail(ErrorKind::corrupt, "is neither a text nor an object with content",
                std::string(key));
  }
  token = std::string(view(content->get_string()));
  return {};
}

// Which tokens the file puts on one side, told by the two members.
Status place(const std::optional<bool>& wanted, const std::optional<std::string>& token,
             std::string_view side, const TokenizerFile& file, std::vector<TokenId>& ids) {
  if (!wanted) return {};
  const auto id = token ? file.find(*token) : std::nullopt;
  if (*wanted && !id) {
    return fail(ErrorKind::usage,
                token ? fmt::format("is true, and no token is called '{}'", *token)
                      : fmt::format("is true, and {}_token is missing", side),
                fmt::format("add_{}_token", side), "set it to false, or name the token");
  }
  ids.clear();
  if (*wanted) ids.push_back(*id);
  return {};
}

}  // namespace

Result<TokenizerConfig> parse_tokenizer_config(std::string_view text) {
  if (text.size() > max_config_bytes) {
    return fail(ErrorKind::usage,
                fmt::format("is longer than the {} bytes allowed", max_config_bytes));
  }
  auto parsed = parse_json(text, "");
  if (!parsed) return propagate(parsed);
  if (!parsed->is_object()) return fail(ErrorKind::corrupt, "is not a JSON object");
  const json::object& root = parsed->get_object();
  TokenizerConfig config;
  auto ok = read_flag(root, "add_bos_token", config.add_bos);
  if (ok) ok = read_flag(root, "add_eos_token", config.add_eos);
  if (ok) ok = read_token(root, "bos_token", config.bos);
  if (ok) ok = read_token(root, "eos_token", config.eos);
  if (!ok) return propagate(ok);
  return config;
}

std::filesystem::path config_path(const std::filesystem::path& folder) {
  return folder / "tokenizer_config.json";
}

Result<TokenizerConfig> read_tokenizer_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = config_path(folder);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return TokenizerConfig{};
  auto text = read_file(path, max_config_bytes);
  if (!text) return propagate(text);
  auto config = parse_tokenizer_config(*text);
  if (!config) {
    std::string& where = config.error().where;
    where = where.empty() ? path.string() : fmt::format("{}: {}", path.string(), where);
  }
  return config;
}

Status apply(const TokenizerConfig& config, TokenizerFile& file) {
  if (auto ok = place(config.add_bos, config.bos, "bos", file, file.before); !ok) return ok;
  return place(config.add_eos, config.eos, "eos", file, file.after);
}

}  // namespace trainward::trainer
