// notify.channels: by which ways people and their tools are told. Which kinds and keys there are
// stands in supervisor/orders/channel_kinds.hpp.
//
// Secrets stay where they are: a channel names files of mode 600, or variables of the daemon's
// environment, and no message repeats what stands in their place.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/reading/secret_path.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using orders::Channel;
using orders::ChannelKey;
using orders::ChannelKind;
using orders::KeyType;
using yaml::MapReader;
using yaml::Member;
using yaml::Node;

constexpr std::size_t most_channels = 32;
constexpr std::size_t longest_text = 512;
constexpr std::size_t most_words = 64;

// Other tools' words for what has a key of its own here.
std::string other_key(std::string_view key) {
  for (const char* word : {"type", "kind", "receiver", "service"}) {
    if (key == word) {
      return "the kind is a key of the channel itself: `slack: {url_file: slack.url}`";
    }
  }
  for (const char* word :
       {"api_url", "webhook_url", "hook_url", "api_url_file", "webhook_url_file"}) {
    if (key == word) return "here it is url_file, the path of a file that holds the address";
  }
  if (key == "bot_token" || key == "bot_token_file" || key == "access_token") {
    return "here it is token_file, the path of a file that holds the token";
  }
  if (key == "chat_id") return "here it is chat";
  if (key == "room_id") return "here it is room";
  if (key == "homeserver") return "here it is server";
  if (key == "severity" || key == "level") return "here it is tiers, a key of the channel";
  return "";
}

std::string names_of_kinds() {
  std::vector<std::string_view> names;
  names.reserve(orders::channel_kinds.size());
  for (const auto& row : orders::channel_kinds) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && consists_of(text, "_.-");
}

bool on_one_line(std::string_view text) {
  return !text.empty() && text.size() <= longest_text &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
}

// The part before '@' and the one behind it: nothing that ends a header or begins another address.
bool is_mail_address(std::string_view text) {
  const auto at = text.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.size() <= 254 &&
         text[0] != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) {
                       return c > ' ' && c < 127 &&
                              std::string_view("()<>[],;:\\\"").find(c) == std::string_view::npos;
                     }) &&
         text.find('@', at + 1) == std::string_view::npos;
}

std::optional<std::vector<std::string>> words_of(MapReader& map, const ChannelKey& key,
                                                 const Node& node) {
  const bool one_is_enough = key.name == "to";
  std::vector<std::string> words;
  std::vector<const Node*> items;
  if (node.kind == Node::Kind::list) {
    for (const Node& item : node.items) items.push_back(&item);
  } else if (one_is_enough) {
    items.push_back(&node);
  }
  for (const Node* item : items) {
    const bool text = item->kind == Node::Kind::scalar && item->text.size() <= 4096 &&
                      item->text.find('\0') == std::string::npos;
    if (!text || (key.name == "to" && !is_mail_address(item->text))) {
      map.report(key.name, *item, fmt::format("expected {}, found {}", key.about, describe(*item)));
      return std::nullopt;
    }
    words.push_back(item->text);
  }
  if (words.empty() || words.size() > most_words ||
      (key.name == "run" && !words.front().starts_with('/'))) {
    map.report(key.name, node, fmt::format("expected {}, found {}", key.about, describe(node)));
    return std::nullopt;
  }
  return words;
}

class ChannelReader {
 public:
  ChannelReader(MapReader& map, const Folders& folders, const orders::KindFacts& kind)
      : map_(map), folders_(folders), kind_(kind) {}

  void read(Channel& channel) {
    for (const ChannelKey& key : kind_.keys) {
      const std::size_t before = map_.problems().size();
      if (!read_key(key, channel) && key.required && map_.problems().size() == before) {
        map_.need(key.file_name.empty() ? key.name : key.file_name, expected(key));
      }
    }
  }

 private:
  static std::string expected(const ChannelKey& key) {
    if (key.file_name.empty()) return std::string(key.about);
    return fmt::format("the path of a file of mode 600 that holds {}", key.about);
  }

  bool read_key(const ChannelKey& key, Channel& channel) {
    const std::string name(key.name);
    switch (key.type) {
      case KeyType::secret:
      case KeyType::address:
        return read_secret(key, channel);
      case KeyType::text:
        if (auto text = read_text(key)) return channel.texts.insert_or_assign(name, *text).second;
        return false;
      case KeyType::words:
        if (auto words = read_words(key)) {
          return channel.words.insert_or_assign(name, std::move(*words)).second;
        }
        return false;
      case KeyType::duration: {
        const auto fallback = yaml::parse_duration_ms(key.fallback).value_or(60'000);
        channel.durations_ms[name] =
            map_.duration_ms(key.name, fallback, {30'000, 30 * 86'400'000LL});
        return true;
      }
    }
    return false;
  }

  bool read_secret(const ChannelKey& key, Channel& channel) {
    const Node* direct = map_.take(key.name);
    const Node* file = map_.take(key.file_name);
    if (direct != nullptr && file != nullptr) {
      map_.report(key.file_name, *file,
                  fmt::format("stands beside {}: write one of them", key.name));
      return false;
    }
    if (file != nullptr) return read_file(key, *file, channel);
    return direct != nullptr && read_direct(key, *direct, channel);
  }

  bool read_direct(const ChannelKey& key, const Node& node, Channel& channel) {
    const std::string name(key.name);
    if (node.kind == Node::Kind::scalar) {
      if (const auto variable = orders::variable_in(node.text); !variable.empty()) {
        channel.secrets[name].variable = variable;
        return true;
      }
      const bool web = node.text.starts_with("https://") || node.text.starts_with("http://");
      if (key.type == KeyType::address && web && on_one_line(node.text) &&
          orders::is_public_address(node.text)) {
        channel.texts[name] = node.text;
        return true;
      }
      if (key.type == KeyType::address && !web) {
        map_.report(key.name, node,
                    fmt::format("expected {}, beginning with https:// or http://", key.about));
        return false;
      }
    }
    // What stands there is not repeated.
    map_.report(
        key.name, node,
        fmt::format("{} does not belong into the configuration: put it into a file of mode "
                    "600 and write `{}: PATH`, or `{}: env:NAME` for a variable of the "
                    "daemon's environment",
                    key.type == KeyType::address ? "an address that may hold a secret" : "a secret",
                    key.file_name, key.name));
    return false;
  }

  bool read_file(const ChannelKey& key, const Node& node, Channel& channel) {
    const auto path = secret_path(map_, key.file_name, node, folders_);
    if (path) channel.secrets[std::string(key.name)].file = path->string();
    return path.has_value();
  }

  std::optional<std::string> read_text(const ChannelKey& key) {
    const Node* node = map_.take(key.name);
    if (node == nullptr) return std::nullopt;
    if (node->kind != Node::Kind::scalar || !on_one_line(node->text)) {
      map_.report(key.name, *node,
                  fmt::format("expected {}, found {}", key.about, describe(*node)));
      return std::nullopt;
    }
    if (const std::string wrong = wrong_with(key, *node); !wrong.empty()) {
      map_.report(key.name, *node, wrong);
      return std::nullopt;
    }
    return node->text;
  }

  [[nodiscard]] std::string wrong_with(const ChannelKey& key, const Node& node) const {
    const std::string& text = node.text;
    const auto refuse = [&] {
      return fmt::format("expected {}, found {}", key.about, describe(node));
    };
    switch (kind_.kind) {
      case ChannelKind::mail:
        if (key.name == "from" && !is_mail_address(text)) return refuse();
        if (key.name == "sendmail" && !text.starts_with('/')) return refuse();
        return "";
      case ChannelKind::matrix:
        return text.starts_with('!') ? "" : refuse() + "; room settings, Advanced, show it";
      case ChannelKind::ping:
        return text == "healthchecks" || text == "uptime-kuma" ? "" : refuse();
      case ChannelKind::telegram: {
        const bool number = yaml::parse_integer(text).has_value();
        return number || (text.starts_with('@') && is_name(std::string_view(text).substr(1)))
                   ? ""
                   : refuse();
      }
      default:
        return "";
    }
  }

  std::optional<std::vector<std::string>> read_words(const ChannelKey& key) {
    const Node* node = map_.take(key.name);
    if (node == nullptr) return std::nullopt;
    return words_of(map_, key, *node);
  }

  MapReader& map_;
  const Folders& folders_;
  const orders::KindFacts& kind_;
};

// "{url_file: PATH}", with a line more about that file.
std::string example_of(const orders::KindFacts& kind) {
  std::string keys;
  bool file = false;
  for (const ChannelKey& key : kind.keys) {
    if (!key.required) continue;
    const bool secret = key.type == KeyType::secret;
    file = file || secret;
    keys += fmt::format("{}{}: {}", keys.empty() ? "" : ", ", secret ? key.file_name : key.name,
                        secret ? "PATH" : "…");
  }
  return fmt::format("{{{}}}{}", keys,
                     file ? " (the secret stands alone in that file, of mode 600)" : "");
}

void read_kind(MapReader& map, const orders::KindFacts& kind, const Node& node,
               const Folders& folders, Channel& channel) {
  channel.kind = kind.kind;
  if (node.kind != Node::Kind::map && !kind.short_key.empty()) {
    const auto key = std::find_if(kind.keys.begin(), kind.keys.end(), [&](const ChannelKey& row) {
      return row.name == kind.short_key;
    });
    MapReader same(map.node(), map.path_of(kind.name), map.problems());
    if (auto words = words_of(same, *key, node)) {
      channel.words.insert_or_assign(std::string(kind.short_key), std::move(*words));
    }
    return;
  }
  MapReader inner(node, map.path_of(kind.name), map.problems(), example_of(kind));
  if (node.kind != Node::Kind::map) return;
  ChannelReader(inner, folders, kind).read(channel);
  inner.finish(other_key);
}

void read_tiers(MapReader& map, Channel& channel) {
  const Node* node = map.take("tiers");
  if (node == nullptr) return;
  const std::string expected =
      fmt::format("expected some of {} in a list", fmt::join(orders::message_tiers, ", "));
  if (!orders::facts(channel.kind).told_in_order && channel.kind == ChannelKind::ping) {
    return map.report("tiers", *node, "a ping is sent while all is well, and has no tiers");
  }
  if (node->kind != Node::Kind::list || node->items.empty()) {
    return map.report("tiers", *node, fmt::format("{}, found {}", expected, describe(*node)));
  }
  for (const Node& item : node->items) {
    const auto& tiers = orders::message_tiers;
    const bool known = item.kind == Node::Kind::scalar &&
                       std::find(tiers.begin(), tiers.end(), item.text) != tiers.end();
    if (!known) {
      map.report("tiers", item, fmt::format("{}, found {}", expected, describe(item)));
    } else if (std::find(channel.tiers.begin(), channel.tiers.end(), item.text) ==
               channel.tiers.end()) {
      channel.tiers.push_back(item.text);
    }
  }
}

std::optional<Channel> read_channel(const Member& member, const std::string& path,
                                    const Folders& folders, std::vector<yaml::Problem>& problems) {
  Channel channel;
  channel.name = member.key;
  if (!is_name(member.key)) {  // which is not repeated: an address may have got there
    problems.push_back({member.mark, fmt::format("{}: a channel's name is 1 to 64 letters, digits, "
                                                 "dots, hyphens and underlines",
                                                 path)});
    return std::nullopt;
  }
  MapReader map(member.value, path + "." + member.key, problems);
  if (member.value.kind != Node::Kind::map) return std::nullopt;
  const orders::KindFacts* found = nullptr;
  for (const auto& kind : orders::channel_kinds) {
    if (member.value.find(kind.name) == nullptr) continue;
    const Node* node = map.take(kind.name);
    if (node == nullptr) return std::nullopt;
    if (found != nullptr) {
      map.report(kind.name, *node,
                 fmt::format("stands beside {}: a channel is of one kind, write another channel",
                             found->name));
      return std::nullopt;
    }
    found = &kind;
    read_kind(map, kind, *node, folders, channel);
  }
  if (found == nullptr) {
    std::string hint;
    for (const Member& key : member.value.members) {
      if (hint.empty()) hint = other_key(key.key);
    }
    problems.push_back(
        {member.value.mark, fmt::format("{}.{}: expected one of {}{}", path, member.key,
                                        names_of_kinds(), hint.empty() ? "" : "; " + hint)});
    return std::nullopt;
  }
  read_tiers(map, channel);
  channel.log_lines = map.boolean("log_lines", true);
  map.finish(other_key);
  return orders::with_defaults(std::move(channel));
}

}  // namespace

std::vector<Channel> read_channels(MapReader& notify, const Folders& folders) {
  std::vector<Channel> channels;
  const Node* node = notify.take("channels");
  if (node == nullptr) return channels;
  const std::string path = notify.path_of("channels");
  const MapReader map(*node, path, notify.problems());
  if (node->members.size() > most_channels) {
    notify.report("channels", *node, fmt::format("has more than {} channels", most_channels));
    return channels;
  }
  for (const Member& member : node->members) {
    if (auto channel = read_channel(member, path, folders, notify.problems())) {
      channels.push_back(std::move(*channel));
    }
  }
  return channels;
}

}  // namespace trainward::config
