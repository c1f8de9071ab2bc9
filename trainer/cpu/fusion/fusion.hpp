// Which elementwise operations and reductions run together in one pass over memory.
//
// A cluster has a domain shape. Its members compute, for each row (the last axis) of the domain:
// values of the whole row, one value per row (a reduction of the row, and arithmetic on such), and
// sinks (reductions over all rows). Softmax, layer norm and cross-entropy each become one cluster.
// Members read each other in registers or cache; what others read is stored. Pure.
#pragma once

#include <vector>

#include "trainer/cpu/fusion/legalise.hpp"

namespace trainward::cpu {

enum class Level { full, row, sink };

struct Cluster {
  Shape domain;
  std::vector<Value> members;  // ascending, so inputs come before users
  bool attention = false;      // results of one attention, or its gradients: a kernel of its own
};

struct Fusion {
  std::vector<Cluster> clusters;
  std::vector<int> cluster_of;  // per node; -1 outside all clusters
  std::vector<Level> level;     // per node; of use inside clusters only
};

Fusion fuse(const LegalGraph& legal);

}  // namespace trainward::cpu
