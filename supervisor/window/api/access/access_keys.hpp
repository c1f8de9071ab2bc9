// The tokens that let somebody in, by their digests. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

struct Key {
  std::string name;    // "anna"
  std::string digest;  // of the token: 64 hexadecimal digits
  Role role = Role::nobody;
};

class Keys {
 public:
  explicit Keys(std::vector<Key> keys = {}) : keys_(std::move(keys)) {}

  // Whose token it is: every key is compared, so that the time tells nothing.
  [[nodiscard]] std::optional<Key> find(std::string_view token) const;
  // Whether this very key is still one of them, with the same role.
  [[nodiscard]] bool has(const Key& key) const;
  [[nodiscard]] bool empty() const { return keys_.empty(); }

 private:
  std::vector<Key> keys_;
};

}  // namespace trainward::api
