// The graph as the search sees it.
#pragma once

#include <set>

#include "hwprobe/topology/mesh_search.hpp"

namespace trainward::hwprobe {

// The best link between each two chips.
enum class Between { nothing, broken, linked };
std::vector<std::vector<Between>> links_between(const Graph& graph);

// Boards, faults and degraded ones; every chip free, every pair forbidden.
Terrain empty_terrain(const Graph& graph, const Preferences& preferences);

// What a program needs: usable chips of boards that are not held, working links.
Terrain terrain_for(const Graph& graph, const Usable& usable, const Preferences& preferences);

}  // namespace trainward::hwprobe
