// What the courier is told about channels: by which ways people and their tools learn what
// happened. Pure values, without a secret in them: those are named by their files, or by variables
// of the courier's environment.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/orders/channel_kinds.hpp"

namespace trainward::orders {

// Where a secret is read each time it is needed. One of the two is set.
struct Secret {
  std::string file;      // absolute
  std::string variable;  // of the courier's environment
  friend bool operator==(const Secret&, const Secret&) = default;
};

struct Channel {
  std::string name;  // [A-Za-z0-9_.-]{1,64}, of its own
  ChannelKind kind = ChannelKind::webhook;
  std::vector<std::string> tiers;  // that it takes, of message_tiers
  bool log_lines = true;           // lines of a worker's log may be told
  // By the names of the kind's keys. Every key of the kind that has a value is in one of them.
  std::map<std::string, std::string> texts;
  std::map<std::string, Secret> secrets;
  std::map<std::string, std::vector<std::string>> words;
  std::map<std::string, std::int64_t> durations_ms;
  friend bool operator==(const Channel&, const Channel&) = default;
};

// With the defaults of its kind filled in.
Channel with_defaults(Channel channel);

json::object to_json(const Channel& channel);
// What to_json() made; kind corrupt for anything else.
Result<Channel> channel_from_json(const json::value& value);

// "env:NAME": NAME; "" for any other text.
std::string_view variable_in(std::string_view text);

// Whether an address may stand in a file that others read: no password, no query, and no part of
// its path looks like a token.
bool is_public_address(std::string_view url);

}  // namespace trainward::orders
