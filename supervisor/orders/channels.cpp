#include "supervisor/orders/channels.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "supervisor/orders/no_order.hpp"

namespace trainward::orders {
namespace {

Result<std::vector<std::string>> texts_of(const json::value& value) {
  const json::array* items = value.if_array();
  if (items == nullptr) return no_order("a channel", "an invalid list");
  std::vector<std::string> out;
  for (const json::value& item : *items) {
    if (!item.is_string()) return no_order("a channel", "an invalid text");
    out.emplace_back(item.get_string());
  }
  return out;
}

json::array array_of(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

// Letters and digits mixed, or many of them in a row, are no word that somebody chose.
bool looks_like_token(std::string_view part) {
  constexpr std::size_t longest_word = 20;
  constexpr std::size_t shortest_mix = 8;
  if (part.size() > longest_word) return true;
  if (part.size() < shortest_mix) return false;
  const auto digits =
      std::count_if(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits >= 3;
}

}  // namespace

std::string_view variable_in(std::string_view text) {
  constexpr std::string_view prefix = "env:";
  if (!text.starts_with(prefix)) return {};
  text.remove_prefix(prefix.size());
  const bool named = !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
                     std::all_of(text.begin(), text.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_';
                     });
  return named ? text : std::string_view();
}

bool is_public_address(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return false;
  std::string_view rest = url.substr(scheme + 3);
  if (rest.find_first_of("@?#") != std::string_view::npos) return false;
  rest.remove_prefix(std::min(rest.find('/'), rest.size()));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (looks_like_token(part)) return false;
    rest.remove_prefix(part.size());
  }
  return true;
}

Channel with_defaults(Channel channel) {
  if (channel.tiers.empty()) channel.tiers.assign(message_tiers.begin(), message_tiers.end());
  for (const ChannelKey& key : facts(channel.kind).keys) {
    if (key.fallback.empty() || key.type == KeyType::duration) continue;
    const std::string name(key.name);
    if (!channel.secrets.contains(name)) channel.texts.try_emplace(name, key.fallback);
  }
  return channel;
}

json::object to_json(const Channel& channel) {
  json::object texts;
  for (const auto& [key, text] : channel.texts) texts[key] = text;
  json::object secrets;
  for (const auto& [key, secret] : channel.secrets) {
    secrets[key] = json::object{{"file", secret.file}, {"variable", secret.variable}};
  }
  json::object words;
  for (const auto& [key, list] : channel.words) words[key] = array_of(list);
  json::object durations;
  for (const auto& [key, ms] : channel.durations_ms) durations[key] = ms;
  return {{"name", channel.name},
          {"kind", facts(channel.kind).name},
          {"tiers", array_of(channel.tiers)},
          {"log_lines", channel.log_lines},
          {"texts", std::move(texts)},
          {"secrets", std::move(secrets)},
          {"words", std::move(words)},
          {"durations_ms", std::move(durations)}};
}

Result<Channel> channel_from_json(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return no_order("a channel", "it is no object");
  Channel out;
  auto name = get_string(*object, "name");
  if (!name) return propagate(name);
  out.name = std::move(*name);
  const KindFacts* kind = find_kind(string_or(*object, "kind", ""));
  if (out.name.empty() || kind == nullptr)
    return no_order("a channel", "no name, or a kind that is not known");
  out.kind = kind->kind;
  out.log_lines = bool_or(*object, "log_lines", true);
  auto tiers = get_array(*object, "tiers");
  if (!tiers) return propagate(tiers);
  auto taken = texts_of(**tiers);
  if (!taken) return propagate(taken);
  out.tiers = std::move(*taken);
  auto texts = get_object(*object, "texts");
  if (!texts) return propagate(texts);
  for (const auto& [key, text] : **texts) {
    if (!text.is_string()) return no_order("a channel", "an invalid text");
    out.texts.emplace(key, text.get_string());
  }
  auto secrets = get_object(*object, "secrets");
  if (!secrets) return propagate(secrets);
  for (const auto& [key, secret] : **secrets) {
    if (!secret.is_object()) return no_order("a channel", "a secret without its place");
    out.secrets.emplace(key, Secret{string_or(secret.get_object(), "file", ""),
                                    string_or(secret.get_object(), "variable", "")});
  }
  auto words = get_object(*object, "words");
  if (!words) return propagate(words);
  for (const auto& [key, list] : **words) {
    auto items = texts_of(list);
    if (!items) return propagate(items);
    out.words.emplace(key, std::move(*items));
  }
  auto durations = get_object(*object, "durations_ms");
  if (!durations) return propagate(durations);
  for (const auto& [key, ms] : **durations) {
    if (!ms.is_int64()) return no_order("a channel", "an invalid time");
    out.durations_ms.emplace(key, ms.get_int64());
  }
  return out;
}

}  // namespace trainward::orders
