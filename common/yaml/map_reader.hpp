// Reads one YAML map key by key, with types and ranges, and reports every key that was not asked
// for.
//
// Each getter returns the fallback when the key is absent or wrong; what is wrong goes to the list
// of problems with its place, so that one pass finds everything. finish() reports the unknown keys
// with the nearest valid one. A reader over a node that is not a map reports that once and then
// answers fallbacks only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/range.hpp"
#include "common/yaml/document.hpp"

namespace trainward::yaml {

struct DurationRange {
  std::int64_t min_ms = 0;
  std::int64_t max_ms = 0;
};

struct SizeRange {
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
};

class MapReader {
 public:
  // `path` is the dotted name of the map ("programs.quickstart"), empty for the whole file.
  // `example`: of such a map, for error messages; may be empty.
  MapReader(const Node& node, std::string path, std::vector<Problem>& problems,
            std::string_view example = "");

  // The value of a key, or nullptr when absent, empty (reported) or refused (reported before).
  const Node* take(std::string_view key);
  // Reports an absent key at the place of the map itself.
  void need(std::string_view key, std::string_view expected);

  std::string text(std::string_view key, std::string fallback);
  std::string one_of(std::string_view key, std::span<const std::string_view> words,
                     std::string_view fallback);
  bool boolean(std::string_view key, bool fallback);
  std::int64_t integer(std::string_view key, std::int64_t fallback, IntegerRange range);
  double number(std::string_view key, double fallback, NumberRange range);
  std::int64_t duration_ms(std::string_view key, std::int64_t fallback, DurationRange range);
  std::int64_t size_bytes(std::string_view key, std::int64_t fallback, SizeRange range);

  // A problem with the value of `key`.
  void report(std::string_view key, const Node& node, std::string message);
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] std::vector<Problem>& problems() { return *problems_; }
  // `other_names` says what an unknown key is called here, or nothing.
  using OtherNames = std::function<std::string(std::string_view key)>;
  void finish(const OtherNames& other_names = {});

 private:
  struct Quantity;
  std::int64_t quantity(std::string_view key, std::int64_t fallback, std::int64_t least,
                        std::int64_t most, const Quantity& of);
  const Node* node_;
  std::string path_;
  std::vector<Problem>* problems_;
  std::vector<std::string_view> known_;
};

}  // namespace trainward::yaml
