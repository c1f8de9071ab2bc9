// Keys of axolotl, TRL, LLaMA-Factory, torchtune and Unsloth that are not read here, and what says
// the same. Those that are read stand in names.hpp. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainward::config::elsewhere {

struct Hint {
  std::string_view theirs;
  std::string_view ours;  // "training_config.lora"; empty: no such key
  std::string_view says;  // how to write it, or why no key exists
};

std::span<const Hint> all_hints();
// "here it is training_config.validation_share (0.1 is a tenth)"; empty: none that is known.
std::string hint_for(std::string_view theirs);

}  // namespace trainward::config::elsewhere
