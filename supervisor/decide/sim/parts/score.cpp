#include "supervisor/decide/sim/parts/score.hpp"

namespace trainward::sim {

std::string_view to_string(Spent spent) {
  constexpr std::array<std::string_view, spent_kinds> names{
      "waiting", "loading", "compiling", "stepping", "replaying", "saving", "broken", "stopped"};
  return names.at(static_cast<std::size_t>(spent));
}

}  // namespace trainward::sim
