// What the keys of other trainers' configurations are here: the lessons', tt-train's,
// tt-blacksmith's and Hugging Face's, and what axolotl's, TRL's, LLaMA-Factory's, torchtune's and
// Unsloth's mean word for word (hints.hpp has the others). The one table; docs/finetune.md is
// tested against it. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace trainward::config::elsewhere {

enum class How {
  same,        // the value is ours as it stands
  word,        // it is one of the words known for it, or a boolean
  clip,        // a norm that may be infinite
  nothing,     // accepted, and told that it does nothing here
  agreed,      // accepted as false, empty or left open, else refused: `says` what to do instead
  inside,      // a map; its keys stand in the table behind its name
  spread,      // a map; its keys are read as if they stood beside it
  at_the_end,  // what it comes to hangs on others: settle.cpp
};

struct Name {
  std::string_view theirs;  // "max_steps", or in a map "optimizer.lr"
  std::string_view ours;    // "training_config.steps"; empty: no such key
  How how = How::same;
  std::string_view says = {};  // for notes and refusals
};

std::span<const Name> all_names();
// nullptr: none that is known.
const Name* find_name(std::string_view theirs);

// A value that is one of their words, or a boolean.
struct Word {
  std::string_view ours;  // our key, or what the words are about if we have no key
  std::string_view theirs;
  std::string_view word;  // our value; empty: accepted, and nothing comes of it
};
const Word* find_word(std::string_view ours, std::string_view theirs);
std::vector<std::string_view> known_words(std::string_view ours);  // theirs

}  // namespace trainward::config::elsewhere
