// Rewrites a graph into what the kernels can run, and says how every value is laid out.
//
// After it: a reduction is over the last axis or over all axes before it; whatever needs dense
// operands has them; no graph output is a mere look at something else. Copies that this takes
// appear as converts of a value to its own type. Broadcast, transpose, slice and reshape cost
// nothing: they are views. A product of one row of f32 with a matrix that is only widened for it
// takes the matrix as it lies, in bf16. What is added to a product that nobody else reads becomes
// its third input: a row (a parameter) that the product adds to each of its own, or another such
// product, of the same shape, whose place it takes and adds itself to.
#pragma once

#include <vector>

#include "common/base/error.hpp"
#include "trainer/cpu/runtime/view.hpp"

namespace trainward::cpu {

struct LegalGraph {
  graph::Graph graph;
  std::vector<View> views;  // one per node; a node that is its own root has storage of that layout
};

// Errors (usage): an operation or element type the kernels do not compute.
Result<LegalGraph> legalise(const graph::Graph& graph);

// True for nodes that only look at another value.
bool is_view(const LegalGraph& legal, Value value);

// True for attention and its gradients.
bool is_attention(const graph::Op& op);

enum class Addend { none, row, product };
// What a product adds itself to; Addend::none for everything else.
Addend addend_of(const LegalGraph& legal, Value value);

// True for a product of f32 with bf16.
bool is_row_product(const LegalGraph& legal, Value value);

}  // namespace trainward::cpu
