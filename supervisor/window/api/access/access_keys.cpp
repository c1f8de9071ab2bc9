#include "supervisor/window/api/access/access_keys.hpp"

#include <algorithm>

#include "supervisor/window/api/access/secret.hpp"

namespace trainward::api {

std::optional<Key> Keys::find(std::string_view token) const {
  const std::string digest = digest_of(token);
  const Key* found = nullptr;
  for (const Key& key : keys_) {
    if (same_digest(key.digest, digest)) found = &key;
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool Keys::has(const Key& key) const {
  return std::any_of(keys_.begin(), keys_.end(), [&](const Key& other) {
    return other.digest == key.digest && other.role == key.role && other.name == key.name;
  });
}

}  // namespace trainward::api
