// Decides what the tensors of a PyTorch file are called in a checkpoint of ours.
//
// An AGILLM-3 checkpoint is a dictionary with state dicts `core`, `ar`, `sat` and an AdamW state
// `opt`: its tensors get the names our trainer uses ("core.emb.weight", "ar.proj.bias",
// "core.emb.weight.exp_avg"), whatever age its spelling is of, and its vocabulary is padded. In any
// other file the tensors of the model keep their names; moments are named after their parameter
// when the order leaves no doubt. In: a tree. Out: a plan by place in the tree. Pure, no failure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/pytorch/pickle/pickle_tree.hpp"

namespace trainward::checkpoint::pytorch {

using PlaceInTree = std::pair<NodeId, std::size_t>;  // a container and the index of an entry

struct PlannedTensor {
  std::string name;
  bool optimizer = false;  // a moment, not a parameter
  std::int64_t rows = 0;   // more than it has: zero rows are added; 0: as it is
};

// Whole numbers that training moves on.
enum class Counter {
  step,             // of the whole run
  tokens,           // seen
  parameter_steps,  // AdamW's count for one parameter
};

struct ImportPlan {
  bool agillm = false;
  std::map<PlaceInTree, PlannedTensor> tensors;
  std::map<PlaceInTree, Counter> counters;
  std::vector<std::string> optimizer_paths;  // "opt.": what lies below belongs to the optimizer
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  std::int64_t vocabulary = 0;         // rows the embedding has in the file; 0: not known
  std::int64_t padded_vocabulary = 0;  // rows it has in the checkpoint
  std::vector<std::string> notes;      // for people
};

// `row_multiple`: the vocabulary of an AGILLM-3 is padded to a multiple of it.
ImportPlan plan_import(const Tree& tree, std::int64_t row_multiple);

}  // namespace trainward::checkpoint::pytorch
