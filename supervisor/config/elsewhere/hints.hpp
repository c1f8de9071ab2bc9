// Keys of axolotl, TRL, LLaMA-Factory, torchtune and Unsloth that are not read here, and what says
// the same. Those that are read stand in names.hpp. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "supervisor/config/elsewhere/counterpart.hpp"

namespace trainward::config::elsewhere {

std::span<const Counterpart> all_hints();
// "here it is training_config.validation_share (0.1 is a tenth)"; empty: none that is known.
std::string hint_for(std::string_view theirs);

}  // namespace trainward::config::elsewhere
