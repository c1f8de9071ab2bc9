// Where the daemon listens besides its Unix socket, and who may come in there: `listen:`, `hosts:`,
// `proxies:` and `tokens:` of the configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainward::config {

struct Address {
  std::string host;        // in digits: "127.0.0.1", "::1"
  std::uint16_t port = 0;  // 0: any that is free

  // Nobody but this machine reaches it.
  [[nodiscard]] bool loopback() const;
  // "127.0.0.1:8420", "[::1]:8420"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Address&, const Address&) = default;
};

// What somebody says to be let in. The token itself is forgotten as soon as its file is read.
struct Token {
  std::string name;    // how events name its user: [A-Za-z0-9_.-]{1,31}
  std::string digest;  // SHA-256, 64 hexadecimal digits
  bool operates = false;
  friend bool operator==(const Token&, const Token&) = default;
};

struct Listening {
  std::vector<Address> addresses;
  std::vector<std::string> hosts;    // by which browsers may ask besides localhost; no ports
  std::vector<std::string> proxies;  // addresses in digits that say for whom they ask
  std::vector<Token> tokens;
  std::vector<std::string> token_files;
  std::vector<std::string> unread;  // files of tokens that this process may not read, in words
};

}  // namespace trainward::config
