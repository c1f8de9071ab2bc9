// listen, hosts, proxies and tokens: who reaches the daemon over the network, and by what.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/path_trust.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/reading/access_token_file.hpp"
#include "supervisor/config/reading/secrets.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::string_view example = "an address and a port, such as 127.0.0.1:8420 or [::1]:8420";
constexpr std::size_t most_addresses = 16;
constexpr std::size_t most_tokens = 256;

// In its shortest form; nothing when it is no address of IPv4 or IPv6.
std::optional<std::string> in_digits(const std::string& text, int family) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (::inet_pton(family, text.c_str(), bytes.data()) != 1) return std::nullopt;
  if (::inet_ntop(family, bytes.data(), out.data(), out.size()) == nullptr) return std::nullopt;
  return std::string(out.data());
}

std::optional<Address> address_in(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  const auto port = yaml::parse_integer(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return std::nullopt;
  std::string host = text.substr(0, colon);
  if (lower_case(host) == "localhost") host = "127.0.0.1";
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  const auto digits =
      bracketed ? in_digits(host.substr(1, host.size() - 2), AF_INET6) : in_digits(host, AF_INET);
  if (!digits) return std::nullopt;
  return Address{*digits, static_cast<std::uint16_t>(*port)};
}

// One, or a list of them.
std::vector<const Node*> each(const Node& node) {
  std::vector<const Node*> nodes;
  if (node.kind != Node::Kind::list) return {&node};
  for (const Node& item : node.items) nodes.push_back(&item);
  return nodes;
}

void read_addresses(MapReader& reader, Listening& listening) {
  const Node* node = reader.take("listen");
  if (node == nullptr) return;
  const auto items = each(*node);
  if (items.empty() || items.size() > most_addresses) {
    return reader.report(
        "listen", *node,
        fmt::format("expected {}, or up to {} of them in a list", example, most_addresses));
  }
  for (const Node* item : items) {
    const auto address = item->kind == Node::Kind::scalar ? address_in(item->text) : std::nullopt;
    if (!address) {
      reader.report("listen", *item,
                    fmt::format("expected {}, found {}", example, describe(*item)));
      continue;
    }
    auto& known = listening.addresses;
    if (address->port != 0 && std::find(known.begin(), known.end(), *address) != known.end()) {
      reader.report("listen", *item, address->text() + " stands here twice");
      continue;
    }
    known.push_back(*address);
  }
}

// As a browser sends it in Host, without a port: "train.example.org", "192.168.1.5", "[fd00::5]".
bool is_host(const std::string& text) {
  if (text.size() > 253 || text.empty()) return false;
  if (text.starts_with('[') && text.ends_with(']')) {
    return in_digits(text.substr(1, text.size() - 2), AF_INET6).has_value();
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

void read_hosts(MapReader& reader, Listening& listening) {
  const Node* node = reader.take("hosts");
  if (node == nullptr) return;
  for (const Node* item : each(*node)) {
    const std::string name = lower_case(item->text);
    if (item->kind == Node::Kind::scalar && is_host(name)) {
      listening.hosts.push_back(name);
      continue;
    }
    reader.report(
        "hosts", *item,
        "expected a name without a port, such as train.example.org, found " + describe(*item));
  }
}

void read_proxies(MapReader& reader, Listening& listening) {
  const Node* node = reader.take("proxies");
  if (node == nullptr) return;
  for (const Node* item : each(*node)) {
    auto digits = in_digits(item->text, AF_INET);
    if (!digits) digits = in_digits(item->text, AF_INET6);
    if (item->kind == Node::Kind::scalar && digits) {
      listening.proxies.push_back(*digits);
      continue;
    }
    reader.report("proxies", *item,
                  "expected the address that the proxy asks from, in digits, such as 127.0.0.1, "
                  "found " +
                      describe(*item));
  }
}

// A token that somebody wrote where its file belongs is not repeated.
bool may_be_a_token(const std::string& text) {
  return may_be_a_secret(text) ||
         (text.size() >= shortest_token && text.find_first_of("/. ") == std::string::npos);
}

class TokenReader {
 public:
  TokenReader(const Folders& folders, Listening& listening)
      : folders_(folders), listening_(listening) {}

  void read(MapReader& map, std::string_view key, bool operates) {
    const Node* node = map.take(key);
    if (node == nullptr) return;
    for (const Node* item : each(*node)) {
      if (item->kind != Node::Kind::scalar || item->text.empty() ||
          item->text.find('\0') != std::string::npos) {
        map.report(key, *item, "expected the path of a file with tokens, or a list of paths");
        continue;
      }
      read_file(map, key, *item, operates);
    }
    if (listening_.tokens.size() > most_tokens) {
      map.report(key, *node, fmt::format("has more than {} tokens", most_tokens));
    }
  }

 private:
  void read_file(MapReader& map, std::string_view key, const Node& node, bool operates) {
    const auto path = folders_.resolve(node);
    listening_.token_files.push_back(path.string());
    std::error_code error;
    const bool there = std::filesystem::exists(path, error);
    if (!there && !error && may_be_a_token(node.text)) {
      return map.report(key, node,
                        "names no file, and looks like a token itself: put it into a file of mode "
                        "600, and write that file's path here");
    }
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES) {
      return leave_unread(map, key, node, path);
    }
    if (auto known = check_known_writers(path); !known)
      return refuse(map, key, node, known.error());
    auto tokens = read_tokens(path, operates, operates ? "operator" : "viewer");
    if (!tokens) return refuse(map, key, node, tokens.error());
    for (Token& token : *tokens) add(map, key, node, std::move(token));
  }

  void add(MapReader& map, std::string_view key, const Node& node, Token token) {
    for (const Token& other : listening_.tokens) {
      if (other.digest == token.digest) {
        return map.report(key, node,
                          fmt::format("the token of {} is also that of {}: everybody has one of "
                                      "their own",
                                      token.name, other.name));
      }
      if (other.name == token.name) {
        return map.report(
            key, node,
            fmt::format("two tokens are called {}: events could not say who it was", token.name));
      }
    }
    listening_.tokens.push_back(std::move(token));
  }

  // Only the daemon must be allowed to read tokens, not a user who just checks the configuration.
  void leave_unread(const MapReader& map, std::string_view key, const Node& node,
                    const std::filesystem::path& path) {
    listening_.unread.push_back(
        fmt::format("{}: {}: may not be read by this user", map.path_of(key), path.string()));
    if (folders_.notes != nullptr) folders_.notes->push_back({node.mark, listening_.unread.back()});
  }

  static void refuse(MapReader& map, std::string_view key, const Node& node, const Error& error) {
    map.report(key, node, error.message());
  }

  const Folders& folders_;
  Listening& listening_;
};

}  // namespace

bool Address::loopback() const { return host.starts_with("127.") || host == "::1"; }

std::string Address::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Listening read_listening(MapReader& reader, const Folders& folders) {
  Listening listening;
  read_addresses(reader, listening);
  read_hosts(reader, listening);
  read_proxies(reader, listening);
  const std::size_t before = reader.problems().size();
  in_section(reader, "tokens", [&](MapReader& map) {
    TokenReader tokens(folders, listening);
    tokens.read(map, "viewer", false);
    tokens.read(map, "operator", true);
  });
  const Node* listen = reader.node().find("listen");
  if (listen == nullptr || reader.problems().size() > before) return listening;
  for (const Address& address : listening.addresses) {
    if (address.loopback()) continue;
    if (listening.tokens.empty() && listening.unread.empty()) {
      reader.report("listen", *listen,
                    address.text() +
                        " is reached from other machines, and there are no 'tokens': add "
                        "tokens.operator or tokens.viewer (docs/window.md), or listen on 127.0.0.1 "
                        "and forward the port with ssh -L");
      break;
    }
    if (folders.notes == nullptr) continue;
    folders.notes->push_back(
        {listen->mark, fmt::format("listen: {} is reached from other machines without encryption, "
                                   "tokens too: a proxy with TLS in front of 127.0.0.1, or ssh -L, "
                                   "keeps them secret",
                                   address.text())});
  }
  return listening;
}

Problems check_tokens(const Config& config) {
  Problems problems;
  for (const std::string& unread : config.listening.unread) {
    problems.push_back({config.file.string(), 0, 0,
                        unread + "; the user who runs trainwardd must own it (`chown`)"});
  }
  return problems;
}

}  // namespace trainward::config
