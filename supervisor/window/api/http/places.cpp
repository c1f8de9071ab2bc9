#include "supervisor/window/api/http/places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainward::api {

std::string Places::shortage(const Visitor& visitor) const {
  if (places_.size() >= all) return fmt::format("{} clients are connected already", all);
  if (visitor.owner) return {};
  const auto count = [this](auto counts) {
    return static_cast<std::size_t>(
        std::count_if(places_.begin(), places_.end(),
                      [&](const auto& entry) { return counts(entry.second.visitor); }));
  };
  if (count([&](const Visitor& other) { return other.name == visitor.name; }) >= visitor.share) {
    return fmt::format("{} clients of {} are connected already", visitor.share, visitor.name);
  }
  if (count([](const Visitor& other) { return !other.owner; }) >= for_others) {
    return fmt::format("{} clients of others than this daemon's owner are connected already",
                       for_others);
  }
  return {};
}

Places::Verdict Places::admit(Client client, const Visitor& visitor) {
  Verdict verdict{shortage(visitor), std::nullopt};
  if (!verdict.refusal.empty()) {
    const auto idle = std::find_if(places_.begin(), places_.end(), [&](const auto& entry) {
      const Place& place = entry.second;
      return !place.asked && (place.visitor.name == visitor.name || visitor.owner);
    });
    if (idle == places_.end()) return verdict;
    verdict = {"", idle->first};
    places_.erase(idle);
  }
  places_.emplace(client, Place{visitor, false});
  return verdict;
}

void Places::asked(Client client) {
  if (const auto found = places_.find(client); found != places_.end()) found->second.asked = true;
}

void Places::rests(Client client) {
  if (const auto found = places_.find(client); found != places_.end()) found->second.asked = false;
}

void Places::left(Client client) { places_.erase(client); }

}  // namespace trainward::api
