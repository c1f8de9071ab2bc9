#include "supervisor/api/places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainward::api {

std::string Places::shortage(uid_t user) const {
  if (places_.size() >= all) return fmt::format("{} clients are connected already", all);
  if (owns(user)) return {};
  const auto count = [this](auto counts) {
    return static_cast<std::size_t>(std::count_if(
        places_.begin(), places_.end(), [&](const auto& entry) { return counts(entry.second); }));
  };
  if (count([&](const Place& place) { return place.user == user; }) >= for_each_other) {
    return fmt::format("{} clients of user {} are connected already", for_each_other, user);
  }
  if (count([&](const Place& place) { return !owns(place.user); }) >= for_others) {
    return fmt::format("{} clients of users that do not own this daemon are connected already",
                       for_others);
  }
  return {};
}

Places::Verdict Places::admit(Client client, uid_t user) {
  Verdict verdict{shortage(user), std::nullopt};
  if (!verdict.refusal.empty()) {
    const auto idle = std::find_if(places_.begin(), places_.end(), [&](const auto& entry) {
      return !entry.second.asked && (entry.second.user == user || owns(user));
    });
    if (idle == places_.end()) return verdict;
    verdict = {"", idle->first};
    places_.erase(idle);
  }
  places_.emplace(client, Place{user, false});
  return verdict;
}

void Places::asked(Client client) {
  if (const auto found = places_.find(client); found != places_.end()) found->second.asked = true;
}

void Places::left(Client client) { places_.erase(client); }

}  // namespace trainward::api
