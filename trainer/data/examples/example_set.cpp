#include "trainer/data/examples/example_set.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "common/base/digest.hpp"
#include "common/base/text.hpp"

namespace trainward::trainer {
namespace {

// Ids are below 2^22 (max_vocabulary), so a bit beside them is free.
static_assert(max_vocabulary <= std::int64_t{1} << 31);

constexpr std::uint64_t bytes_an_example = sizeof(std::uint64_t) + sizeof(std::uint32_t);

constexpr bool is_target(std::uint32_t token) { return (token & 1U) != 0; }

std::string_view as_text(std::span<const std::uint32_t> numbers) {
  const auto bytes = std::as_bytes(numbers);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Status ExampleSet::add(const Example& example) {
  const std::uint64_t bytes = (tokens_.size() + example.ids.size()) * sizeof(std::uint32_t) +
                              (lengths_.size() + 1) * bytes_an_example;
  if (bytes > max_bytes_ || lengths_.size() == std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorKind::usage,
                fmt::format("there is more than {} of examples", human_bytes(max_bytes_)), "",
                "name fewer files or folders under data");
  }
  starts_.push_back(tokens_.size());
  lengths_.push_back(static_cast<std::uint32_t>(example.ids.size()));
  for (std::size_t i = 0; i < example.ids.size(); ++i) {
    const bool target = i > 0 && example.targets[i] != 0;
    tokens_.push_back(static_cast<std::uint32_t>(example.ids[i]) << 1U | (target ? 1U : 0U));
    targets_ += target ? 1 : 0;
  }
  return {};
}

std::span<const std::uint32_t> ExampleSet::tokens_of(std::uint32_t example) const {
  return std::span(tokens_).subspan(starts_[example], lengths_[example]);
}

std::int64_t ExampleSet::targets(std::uint32_t example) const {
  std::int64_t found = 0;
  for (const std::uint32_t token : tokens_of(example)) found += is_target(token) ? 1 : 0;
  return found;
}

Example ExampleSet::at(std::uint32_t example) const {
  Example out;
  for (const std::uint32_t token : tokens_of(example)) {
    out.ids.push_back(static_cast<TokenId>(token >> 1U));
    out.targets.push_back(is_target(token) ? 1 : 0);
  }
  return out;
}

void ExampleSet::copy(std::uint32_t example, float weight, std::span<TokenId> ids,
                      std::span<float> weights) const {
  std::size_t i = 0;
  for (const std::uint32_t token : tokens_of(example)) {
    ids[i] = static_cast<TokenId>(token >> 1U);
    weights[i] = is_target(token) ? weight : 0;
    ++i;
  }
}

std::string ExampleSet::digest(std::string_view made_by) const {
  Sha256 hash;
  hash.update(fmt::format("trainward examples 1\n{} {}\n", made_by.size(), made_by));
  hash.update(as_text(lengths_));
  hash.update(as_text(tokens_));
  return hash.finish();
}

std::string_view ExampleSet::bytes_of(std::uint32_t example) const {
  return as_text(tokens_of(example));
}

std::int64_t shared_examples(const ExampleSet& a, std::span<const std::uint32_t> chosen_a,
                             const ExampleSet& b, std::span<const std::uint32_t> chosen_b) {
  if (chosen_b.empty()) return 0;
  std::unordered_set<std::string_view> known;
  for (const std::uint32_t example : chosen_a) known.insert(a.bytes_of(example));
  return std::ranges::count_if(
      chosen_b, [&](std::uint32_t example) { return known.contains(b.bytes_of(example)); });
}

}  // namespace trainward::trainer
