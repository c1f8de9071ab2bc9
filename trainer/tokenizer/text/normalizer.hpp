// What is done to text before it is cut into pieces: the normalizer of a tokenizer.json.
//
// In: steps, applied one after the other, and valid UTF-8. Out: valid UTF-8. Memory and time: those
// of normal_form.hpp for each step. Immutable; any number of threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainward::trainer {

// `lowercase`: each character by itself, without regard to language or neighbours.
enum class NormalizerStep { nfc, nfd, nfkc, nfkd, lowercase };

// As a tokenizer.json names it.
std::string_view name_of(NormalizerStep step);

class Normalizer {
 public:
  explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}

  // `text` itself where nothing changes, else a view of `storage`.
  [[nodiscard]] std::string_view apply(std::string_view text, std::string& storage) const;

 private:
  std::vector<NormalizerStep> steps_;
};

}  // namespace trainward::trainer
