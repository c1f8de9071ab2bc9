#include "supervisor/config/reading/secrets.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace trainward::config {
namespace {

bool is(int (*kind)(int), char c) { return kind(static_cast<unsigned char>(c)) != 0; }

// "wandb.apiKey" as "WANDB_APIKEY", or, with its words apart, as "_WANDB_API_KEY".
std::string plain_name(std::string_view name, bool apart) {
  std::string out = apart ? "_" : "";
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i > 0 && is(std::isupper, name[i]) && is(std::islower, name[i - 1]);
    if (apart && begins) out += '_';
    out += is(std::isalnum, name[i])
               ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])))
               : '_';
  }
  return out;
}

// "2048", "4e5", "10B"
bool is_amount(std::string_view value) {
  constexpr std::size_t longest = 20;
  return !value.empty() && value.size() <= longest && is(std::isdigit, value.front()) &&
         value.find_first_not_of("0123456789.,_+-eEkKmMgGbBtT") == std::string_view::npos;
}

// Neither a tokenizer nor an amount of tokens is secret.
bool names_a_token(std::string_view name, std::string_view value) {
  constexpr std::string_view token = "TOKEN";
  for (auto at = name.find(token); at != std::string_view::npos; at = name.find(token, at + 1)) {
    const std::string_view rest = name.substr(at + token.size());
    const bool amount = rest.starts_with('S') && is_amount(value);
    if (!amount && !rest.starts_with("IZ")) return true;
  }
  return false;
}

// Arguments one after the other; a word of several is a script, or a header.
class Hiding {
 public:
  std::string word(std::string_view text) {
    const bool value = !option_.empty() && !text.starts_with('-');
    const bool several = text.find_first_of(" \t\n") != std::string_view::npos;
    if (!several || (value && looks_secret(option_, ""))) return piece(text, false);
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const bool assigns =
        equals != std::string_view::npos && name.find_first_of(" \t\n:") == std::string_view::npos;
    if (assigns && looks_secret(name, "")) return piece(text, false);
    option_.clear();
    return script(text);
  }

 private:
  std::string piece(std::string_view text, bool of_script) {
    const std::string before = std::exchange(option_, {});
    const bool option = text.starts_with('-');
    if (!before.empty() && !option && looks_secret(before, text)) return hidden;
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos) {
      if (option) option_ = text;
    } else if (of_script && equals + 1 == text.size()) {
      option_ = name;  // its value is the quoted one that follows
      return std::string(text);
    } else if (looks_secret(name, text.substr(equals + 1))) {
      return std::string(name) + "=" + hidden;
    }
    return looks_secret("", text) ? hidden : std::string(text);
  }

  std::string script(std::string_view text) {
    constexpr std::string_view quotes = "\"'`";
    std::string out;
    while (!text.empty()) {
      const auto size = std::min(text.find_first_of(" \t\n\"'`;&|()<>"), text.size());
      const std::string_view one = text.substr(0, size);
      if (size == 0) {
        const auto end = text.find(text.front(), 1);
        const bool quoted = quotes.find(text.front()) != std::string_view::npos &&
                            end != std::string_view::npos && !option_.empty() &&
                            looks_secret(option_, text.substr(1, end - 1));
        if (quoted) {
          out += text.front() + std::string(hidden);
          text.remove_prefix(end);
          option_.clear();
        }
        out += text.front();
        text.remove_prefix(1);
      } else if (one.ends_with(':') && looks_secret(one.substr(0, size - 1), "")) {
        // A header, to its end.
        const auto end = std::min(text.find_first_of(quotes), text.size());
        out += std::string(one) + " " + hidden;
        text.remove_prefix(end);
      } else {
        out += piece(one, true);
        text.remove_prefix(size);
      }
    }
    option_.clear();
    return out;
  }

  std::string option_;  // whose value may come next
};

}  // namespace

bool looks_secret(std::string_view name, std::string_view value) {
  const std::string word = plain_name(name, false);
  for (const char* part : {"SECRET", "PASSW", "APIKEY", "CREDENTIAL", "AUTH", "PRIVATE"}) {
    if (word.find(part) != std::string::npos) return true;
  }
  if (names_a_token(word, value)) return true;
  const std::string words = plain_name(name, true);
  for (const char* end : {"_KEY", "_PASS", "_PW", "_DSN"}) {
    if (words.ends_with(end)) return true;
  }
  // scheme://user:password@host/
  const auto scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view rest = value.substr(scheme + 3);
  const std::string_view host = rest.substr(0, rest.find('/'));
  const auto at = host.rfind('@');
  return at != std::string_view::npos && host.substr(0, at).find(':') != std::string_view::npos;
}

bool may_be_a_secret(std::string_view text) {
  for (const char* begins :
       {"hf_", "AKIA", "HFAK", "tk_", "whsec_", "xox", "syt_", "ghp_", "sk-"}) {
    if (text.starts_with(begins)) return true;
  }
  if (text.find("://") != std::string_view::npos) return true;
  if (text.find('/') != std::string_view::npos) return false;
  constexpr std::size_t longest_name = 19;
  return text.find_first_of(":@") != std::string_view::npos ||
         (text.size() > longest_name && text.find_first_of(". ") == std::string_view::npos &&
          text.find_first_of("0123456789") != std::string_view::npos);
}

std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  Hiding hiding;
  out.reserve(words.size());
  for (const std::string& word : words) out.push_back(hiding.word(word));
  return out;
}

}  // namespace trainward::config
