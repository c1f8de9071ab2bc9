// Looks into a config.json, where unknown keys are fine and a known one of another type is not.
//
// A value that is null counts as absent. Reads never fail; the first value of the wrong type is the
// error of finish(), of kind usage and with its key. Borrows the object.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// How large a size may be: far beyond any model there is. A list of the tensors must fit into
// memory, and no product of sizes may overflow.
struct SizeLimit {
  std::string_view key;
  std::int64_t ModelSpec::*size;
  std::int64_t most;
};

class ConfigReader {
 public:
  ConfigReader(const json::object& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  [[nodiscard]] bool names(std::string_view key) const { return object_.contains(key); }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t fallback) const;
  // Null is 0: nothing of it.
  [[nodiscard]] std::int64_t whole_or_null(std::string_view key, std::int64_t fallback) const {
    return names(key) && !has(key) ? 0 : whole(key, fallback);
  }
  [[nodiscard]] double number(std::string_view key, double fallback) const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback) const;
  [[nodiscard]] std::string text(std::string_view key, std::string fallback = {}) const;
  [[nodiscard]] const json::object* object(std::string_view key) const;
  [[nodiscard]] ConfigReader inside(std::string_view key, const json::object& object) const {
    return {object, key.empty() ? where_ : fmt::format("{}: {}", where_, key)};
  }

  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view key, std::string_view what,
                                             std::string cure) const;
  [[nodiscard]] Status finish() const;
  // Kind usage: one that is below 1, or above its limit.
  [[nodiscard]] Status check_sizes(const ModelSpec& model, std::span<const SizeLimit> limits) const;

 private:
  [[nodiscard]] const json::value* find(std::string_view key) const;
  void note(std::string_view key, std::string_view wanted) const;

  const json::object& object_;
  std::string where_;
  mutable std::optional<Error> error_;
};

}  // namespace trainward::trainer
