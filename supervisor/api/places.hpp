// Who may talk to the daemon at the same time, so that nobody can close the API to its owner. Pure.
//
//   64 places in all. Root and the daemon's own user, the owners, may have every one of them.
//   Everybody else together has 48, and each user of them 16.
//
// Where there is no place, a client of the same user that has not sent its request yet makes room,
// the oldest first; for an owner any such client does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace trainward::api {

class Places {
 public:
  using Client = std::uint64_t;  // ascending in the order they come

  static constexpr std::size_t all = 64;
  static constexpr std::size_t for_others = 48;
  static constexpr std::size_t for_each_other = 16;

  explicit Places(uid_t daemon) : daemon_(daemon) {}

  struct Verdict {
    std::string refusal;              // why there is no place; empty: it has one
    std::optional<Client> displaced;  // who has lost its place to it
  };
  Verdict admit(Client client, uid_t user);
  // Its request is there: it keeps its place until it leaves.
  void asked(Client client);
  void left(Client client);

 private:
  struct Place {
    uid_t user = 0;
    bool asked = false;
  };
  [[nodiscard]] bool owns(uid_t user) const { return user == 0 || user == daemon_; }
  [[nodiscard]] std::string shortage(uid_t user) const;

  uid_t daemon_;
  std::map<Client, Place> places_;
};

}  // namespace trainward::api
