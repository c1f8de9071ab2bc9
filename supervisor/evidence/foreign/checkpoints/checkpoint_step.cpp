#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "checkpoint/pytorch/archive/archive.hpp"
#include "common/base/text.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_pattern.hpp"
#include "supervisor/evidence/foreign/checkpoints/trainer_state.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;
namespace pytorch = checkpoint::pytorch;

constexpr std::int64_t most_steps = 1'000'000'000'000;

constexpr std::array<std::string_view, 2> step_words{"step", "iter"};
// What else people number.
constexpr std::array<std::string_view, 17> other_words{
    "epoch", "ep",   "e",   "loss", "acc",   "ppl", "lr",    "v",   "version",
    "rank",  "seed", "gpu", "part", "shard", "of",  "world", "fold"};
// Of the values at the top of a torch.save file, the best first.
constexpr std::array<std::string_view, 10> step_keys{
    "global_step", "iter_num",  "step",        "iteration", "iter",
    "steps",       "num_steps", "train_steps", "steps_run", "current_step"};

struct Number {
  std::string word;  // the letters before it, in lower case; empty: none
  std::int64_t value = -1;
  bool fraction = false;  // digits behind a point
  bool of = false;        // "of" and another number follow: a part of a whole
};

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::vector<Number> numbers_in(std::string_view name) {
  std::vector<Number> out;
  for (std::size_t at = 0; at < name.size();) {
    if (!digit(name[at])) {
      ++at;
      continue;
    }
    Number number;
    std::size_t end = at;
    while (end < name.size() && digit(name[end])) ++end;
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(name.data() + at, name.data() + end, value);
    if (error == std::errc() && value <= most_steps) number.value = value;
    number.fraction = at >= 2 && name[at - 1] == '.' && digit(name[at - 2]);
    std::size_t word_end = at;
    constexpr std::string_view separators = "-_=. ";
    while (word_end > 0 && separators.find(name[word_end - 1]) != std::string_view::npos) {
      --word_end;
    }
    std::size_t word = word_end;
    while (word > 0 && letter(name[word - 1])) --word;
    number.word = lower_case(name.substr(word, word_end - word));
    const std::string_view behind = name.substr(end);
    for (const std::string_view of : {"-of-", "_of_", "of"}) {
      number.of = number.of ||
                  (behind.starts_with(of) && behind.size() > of.size() && digit(behind[of.size()]));
    }
    out.push_back(std::move(number));
    at = end;
  }
  return out;
}

// "ckpt.500" has none.
std::string_view without_ending(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return name;
  const std::string_view ending = name.substr(dot + 1);
  return std::all_of(ending.begin(), ending.end(), digit) ? name : name.substr(0, dot);
}

// "global_step", "steps", "iteration"
bool says_step(std::string_view word) {
  return std::any_of(step_words.begin(), step_words.end(), [&](std::string_view step) {
    return word.find(step) != std::string_view::npos;
  });
}

std::optional<std::int64_t> said_step(std::string_view name) {
  const auto numbers = numbers_in(without_ending(name));
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    if (says_step(number->word) && number->value >= 0) return number->value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> step_in_archive(const fs::path& file) {
  auto source = pytorch::open_source(file);
  if (!source) return std::nullopt;
  pytorch::Limits limits;
  limits.nodes = 1U << 18U;
  limits.links = 1U << 20U;
  limits.text_bytes = 8U << 20U;
  limits.unknown_names = true;
  const auto archive = pytorch::open_archive(std::move(*source), limits);
  if (!archive) return std::nullopt;
  const pytorch::Tree& tree = archive->tree;
  for (const std::string_view key : step_keys) {
    const auto* value = tree.as<std::int64_t>(tree.find(tree.root, key));
    if (value != nullptr && *value >= 0 && *value <= most_steps) return *value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> step_in_name(std::string_view name) {
  if (const auto said = said_step(name)) return said;
  const auto numbers = numbers_in(without_ending(name));
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const bool other =
        std::find(other_words.begin(), other_words.end(), number->word) != other_words.end();
    if (!other && !number->fraction && !number->of && number->value >= 0) return number->value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> step_in_path(std::span<const std::string> parts,
                                         std::span<const std::string> names) {
  for (std::size_t i = names.size(); i > 0; --i) {
    if (const auto said = said_step(names[i - 1])) return said;
  }
  for (std::size_t i = names.size(); i > 0; --i) {
    if (!has_wildcard(parts[i - 1])) continue;
    if (const auto step = step_in_name(names[i - 1])) return step;
  }
  return std::nullopt;
}

std::optional<std::int64_t> step_inside(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const auto state = read_trainer_state(path);
    return state ? std::optional(state->step) : std::nullopt;
  }
  return step_in_archive(path);
}

}  // namespace trainward::foreign
