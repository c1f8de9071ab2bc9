// Reads a JSON object in which every key must be known, of the right type and in range.
//
// Each read leaves its target as it was when the key is absent. The object remembers what was asked
// for and the first thing that was wrong; finish() says it, a key nobody asked for before anything
// else, since a misspelt key explains the missing one. Errors are of kind usage and name the key by
// its path ("training_config.batch_size"). Borrows the JSON object.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "common/base/range.hpp"

namespace trainward {

class StrictObject {
 public:
  StrictObject(const json::object& object, std::string where)
      : object_(&object), where_(std::move(where)) {}

  void whole(std::string_view key, std::int64_t& target, IntegerRange range);
  void wholes(std::string_view key, std::vector<std::int64_t>& target, IntegerRange range);
  void bytes(std::string_view key, std::uint64_t& target);
  void real(std::string_view key, double& target, NumberRange range);
  void flag(std::string_view key, bool& target);
  void text(std::string_view key, std::string& target);
  void one_of(std::string_view key, std::string& target, std::span<const std::string_view> words);
  void texts(std::string_view key, std::vector<std::string>& target);
  // nullptr when absent or null.
  const json::object* object(std::string_view key);
  // Known, and read elsewhere.
  void leave(std::string_view key) { known_.push_back(key); }

  // The first complaint about `key`, made by the caller; later ones are dropped.
  void complain(std::string_view key, std::string what, std::string hint = {});
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] Status finish() const;

 private:
  const json::value* look_up(std::string_view key);
  void expected(std::string_view key, std::string_view type, const json::value& found);

  const json::object* object_;
  std::string where_;
  std::vector<std::string_view> known_;
  std::optional<Error> first_;
};

}  // namespace trainward
