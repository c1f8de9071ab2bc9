// Who may talk to a listener of the daemon at the same time, so that nobody can close the API to
// its owner. Every listener has places of its own: who comes by one takes none from the others.
// Pure.
//
//   64 places in all. Owners may have every one of them. Everybody else together has 48, and each
//   of them 16, or what its share is.
//
// Where there is no place, a client of the same visitor that has no request under way makes room,
// the oldest first; for an owner any such client does.
#pragma once

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

  // A user or an address that one or more clients may come from.
  struct Visitor {
    std::string name;  // "user 1001", "10.0.0.7"
    bool owner = false;
    std::size_t share = for_each_other;
  };

  struct Verdict {
    std::string refusal;              // why there is no place; empty: it has one
    std::optional<Client> displaced;  // who has lost its place to it
  };
  Verdict admit(Client client, const Visitor& visitor);
  // Its request is there: it keeps its place until it leaves or rests.
  void asked(Client client);
  // It was answered, and may ask again.
  void rests(Client client);
  void left(Client client);

 private:
  struct Place {
    Visitor visitor;
    bool asked = false;
  };
  [[nodiscard]] std::string shortage(const Visitor& visitor) const;

  std::map<Client, Place> places_;
};

}  // namespace trainward::api
