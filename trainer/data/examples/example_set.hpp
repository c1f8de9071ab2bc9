// Examples in memory, one after the other, with what is trained on in them.
//
// Four bytes a token and twelve an example, at most `max_bytes`; more is an error of kind usage,
// not a process that grows. Once filled, any number of threads may look.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/data/examples/example.hpp"

namespace trainward::trainer {

inline constexpr std::uint64_t default_max_example_bytes = std::uint64_t{2} << 30U;

class ExampleSet {
 public:
  explicit ExampleSet(std::uint64_t max_bytes = default_max_example_bytes)
      : max_bytes_(max_bytes) {}

  // A target at the first position is ignored.
  Status add(const Example& example);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(lengths_.size()); }
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] std::int64_t targets(std::uint32_t example) const;
  [[nodiscard]] std::int64_t tokens() const { return static_cast<std::int64_t>(tokens_.size()); }
  [[nodiscard]] std::int64_t targets() const { return targets_; }
  [[nodiscard]] Example at(std::uint32_t example) const;

  // Its tokens to the front of `ids`, and `weight` at each target, 0 elsewhere, to that of
  // `weights`; both are at least as long as it is.
  void copy(std::uint32_t example, float weight, std::span<TokenId> ids,
            std::span<float> weights) const;

  // As they are kept, to be compared: each token with whether it is a target.
  [[nodiscard]] std::string_view bytes_of(std::uint32_t example) const;

  // SHA-256 of every token, of what is trained on, and of what made them: tells a resumed run
  // whether it reads what the first attempt read.
  [[nodiscard]] std::string digest(std::string_view made_by) const;

 private:
  [[nodiscard]] std::span<const std::uint32_t> tokens_of(std::uint32_t example) const;

  std::uint64_t max_bytes_;
  std::vector<std::uint32_t> tokens_;  // the id twice, plus one where it is a target
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint32_t> lengths_;
  std::int64_t targets_ = 0;
};

// How many of `chosen_b` have the very tokens of one of `chosen_a`.
std::int64_t shared_examples(const ExampleSet& a, std::span<const std::uint32_t> chosen_a,
                             const ExampleSet& b, std::span<const std::uint32_t> chosen_b);

}  // namespace trainward::trainer
