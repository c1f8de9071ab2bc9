// The kinds of channels and the keys that each has in the configuration: the one truth for its
// reader, for the forms and for the documentation's test. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainward::orders {

enum class ChannelKind : std::uint8_t {
  webhook,
  ntfy,
  slack,
  discord,
  matrix,
  telegram,
  alertmanager,
  mail,
  command,
  ping,
};

enum class KeyType : std::uint8_t {
  secret,    // NAME_file: a path, or NAME: env:VARIABLE; never in the configuration itself
  address,   // the same, or NAME: an address in which nothing is secret
  text,      // on one line
  words,     // a list of texts; or one
  duration,  // "1 min"; kept in milliseconds
};

struct ChannelKey {
  std::string_view name;
  std::string_view file_name;  // of secrets and addresses: the key that names a file
  KeyType type = KeyType::text;
  bool required = false;
  std::string_view fallback;  // "": none
  std::string_view about;     // completes "expected …"
};

struct KindFacts {
  ChannelKind kind = ChannelKind::webhook;
  std::string_view name;
  // The receiver tells a repetition from something new, by an id that stays the same.
  bool dedupes = false;
  // It is told messages: those of its tiers, in their order. Otherwise it is kept up to date.
  bool told_in_order = true;
  // A value that is no map is this key's: `mail: me@example.org`. "": it has to be a map.
  std::string_view short_key;
  std::span<const ChannelKey> keys;
};

namespace channel_keys {

inline constexpr std::array webhook{
    ChannelKey{"url", "url_file", KeyType::address, true, "", "where messages are posted to"},
    ChannelKey{"secret", "secret_file", KeyType::secret, false, "",
               "the keys that sign them, whsec_ and base64, a line each"},
};
inline constexpr std::array ntfy{
    ChannelKey{"topic", "topic_file", KeyType::secret, true, "",
               "the topic: anyone who knows it can read the messages"},
    ChannelKey{"server", "server_file", KeyType::address, false, "https://ntfy.sh",
               "the server's address"},
    ChannelKey{"token", "token_file", KeyType::secret, false, "", "an access token, tk_…"},
};
inline constexpr std::array slack{
    ChannelKey{"url", "url_file", KeyType::secret, true, "",
               "the incoming webhook's address, https://hooks.slack.com/services/…"},
};
inline constexpr std::array discord{
    ChannelKey{"url", "url_file", KeyType::secret, true, "",
               "the webhook's address, https://discord.com/api/webhooks/…"},
};
inline constexpr std::array matrix{
    ChannelKey{"server", "server_file", KeyType::address, true, "",
               "the home server's address, such as https://matrix.org"},
    ChannelKey{"room", "", KeyType::text, true, "", "the room's id, such as '!abc:matrix.org'"},
    ChannelKey{"token", "token_file", KeyType::secret, true, "", "the access token of who speaks"},
};
inline constexpr std::array telegram{
    ChannelKey{"token", "token_file", KeyType::secret, true, "",
               "the bot's token, as @BotFather gave it"},
    ChannelKey{"chat", "", KeyType::text, true, "",
               "the chat's number in quotes, such as '-1001234', or '@name' of a channel"},
    ChannelKey{"server", "server_file", KeyType::address, false, "https://api.telegram.org",
               "the server's address"},
};
inline constexpr std::array alertmanager{
    ChannelKey{"url", "url_file", KeyType::address, true, "",
               "Alertmanager's address, such as http://127.0.0.1:9093"},
    ChannelKey{"token", "token_file", KeyType::secret, false, "", "a bearer token"},
};
inline constexpr std::array mail{
    ChannelKey{"to", "", KeyType::words, true, "", "addresses, such as me@example.org"},
    ChannelKey{"from", "", KeyType::text, false, "", "the sender's address"},
    ChannelKey{"sendmail", "", KeyType::text, false, "/usr/sbin/sendmail",
               "the program that takes mail, by its absolute path"},
};
inline constexpr std::array command{
    ChannelKey{"run", "", KeyType::words, true, "",
               "a list that starts with the absolute path of a program"},
};
inline constexpr std::array ping{
    ChannelKey{"url", "url_file", KeyType::secret, true, "",
               "the address to call while all is well"},
    ChannelKey{"form", "", KeyType::text, false, "healthchecks", "healthchecks or uptime-kuma"},
    ChannelKey{"every", "", KeyType::duration, false, "1min", "a time such as 1min"},
    ChannelKey{"progress_within", "", KeyType::duration, false, "4h", "a time such as 4h"},
};

}  // namespace channel_keys

inline constexpr std::array<KindFacts, 10> channel_kinds{{
    {ChannelKind::webhook, "webhook", true, true, "", channel_keys::webhook},
    {ChannelKind::ntfy, "ntfy", false, true, "", channel_keys::ntfy},
    {ChannelKind::slack, "slack", false, true, "", channel_keys::slack},
    {ChannelKind::discord, "discord", false, true, "", channel_keys::discord},
    {ChannelKind::matrix, "matrix", true, true, "", channel_keys::matrix},
    {ChannelKind::telegram, "telegram", false, true, "", channel_keys::telegram},
    {ChannelKind::alertmanager, "alertmanager", true, false, "", channel_keys::alertmanager},
    {ChannelKind::mail, "mail", false, true, "to", channel_keys::mail},
    {ChannelKind::command, "command", false, true, "run", channel_keys::command},
    {ChannelKind::ping, "ping", true, false, "", channel_keys::ping},
}};

constexpr const KindFacts& facts(ChannelKind kind) {
  return channel_kinds.at(static_cast<std::size_t>(kind));
}

constexpr bool kinds_are_in_order() {
  for (const KindFacts& row : channel_kinds) {
    if (&facts(row.kind) != &row) return false;
  }
  return true;
}
static_assert(kinds_are_in_order());

constexpr const KindFacts* find_kind(std::string_view name) {
  for (const KindFacts& row : channel_kinds) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

inline constexpr std::array<std::string_view, 3> message_tiers{"critical", "warning", "info"};

}  // namespace trainward::orders
