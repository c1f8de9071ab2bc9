#include "trainer/data/examples/example.hpp"

#include <algorithm>

namespace trainward::trainer {

std::int64_t Example::target_count() const {
  return std::count(targets.begin(), targets.end(), std::uint8_t{1});
}

bool cut(Example& example, std::int64_t most, TooLong rule, std::int64_t beginning) {
  const auto length = static_cast<std::int64_t>(example.ids.size());
  if (length <= most) return true;
  if (rule == TooLong::drop) return false;
  if (rule == TooLong::keep_end) {
    const std::int64_t kept = std::clamp<std::int64_t>(beginning, 0, most - 1);
    const std::int64_t gone = length - most;
    example.ids.erase(example.ids.begin() + kept, example.ids.begin() + kept + gone);
    example.targets.erase(example.targets.begin() + kept, example.targets.begin() + kept + gone);
    // What stands first now, or behind a beginning it never followed, cannot be learned from it.
    example.targets[static_cast<std::size_t>(kept)] = 0;
  }
  example.ids.resize(static_cast<std::size_t>(most));
  example.targets.resize(static_cast<std::size_t>(most));
  return true;
}

}  // namespace trainward::trainer
