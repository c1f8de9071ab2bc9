// What is done to text before it is cut into pieces: the normalizer of a tokenizer.json.
//
// In: steps, applied one after the other, and valid UTF-8. Out: valid UTF-8. Memory and time: those
// of normal_form.hpp for each step, and of what Replace makes longer. Immutable; any number of
// threads.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trainward::trainer {

// `lowercase`: each character by itself, without regard to language or neighbours.
enum class CharacterStep { nfc, nfd, nfkc, nfkd, lowercase };

// In front of text that is not empty and follows no other.
struct Prepend {
  std::string text;
};

// Every occurrence, from the left.
struct Replace {
  std::string from;  // not empty
  std::string to;
};

using NormalizerStep = std::variant<CharacterStep, Prepend, Replace>;

// As a tokenizer.json names it.
std::string_view name_of(CharacterStep step);

std::string replaced(std::string_view text, const Replace& rule);

class Normalizer {
 public:
  explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}

  // `text` itself where nothing changes, else a view of `storage`. `prepend` false: it
  // continues other text, so Prepend does nothing.
  [[nodiscard]] std::string_view apply(std::string_view text, std::string& storage,
                                       bool prepend = true) const;

 private:
  std::vector<NormalizerStep> steps_;
};

}  // namespace trainward::trainer
