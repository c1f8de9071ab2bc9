// A word of another program's configuration, and what says the same here. Pure.
#pragma once

#include <string_view>

namespace trainward::config {

struct Counterpart {
  std::string_view theirs;
  std::string_view ours;  // "training_config.lora"; empty: no such key
  std::string_view says;  // how to write it, or why no key exists
};

}  // namespace trainward::config
