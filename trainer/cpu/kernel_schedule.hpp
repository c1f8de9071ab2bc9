// The order in which kernels run: each unit is a cluster or one node with a kernel of its own.
#pragma once

#include <vector>

#include "trainer/cpu/fusion/fusion.hpp"

namespace trainward::cpu {

struct Unit {
  int cluster = -1;  // into Fusion::clusters, or
  Value node;        // the node, when it is in none
};

struct Schedule {
  std::vector<Unit> units;
  std::vector<int> unit_of;  // per node: the unit that computes it, -1 for views and leaves
};

// Topological; among units that are ready, the one whose first node is earliest.
Schedule make_schedule(const LegalGraph& legal, const Fusion& fusion);

// True for parameters, constants and iotas: there before anything runs.
bool is_leaf(const graph::Op& op);

}  // namespace trainward::cpu
