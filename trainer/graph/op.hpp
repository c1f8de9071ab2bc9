// The operations of a graph, as values.
//
// Each maps one to one onto a StableHLO operation of the same name, with these narrowings:
// constants are one value repeated; pads are zeros around; a reduction has no window; gather and
// scatter work on whole rows of a table (StableHLO gather/scatter with one index per row, slices of
// full rows, scatter combining by addition).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "trainer/graph/type.hpp"

namespace trainward::graph {

using Axes = std::vector<std::int64_t>;

enum class UnaryKind { negate, exponential, log, sqrt, rsqrt, tanh };
// The bitwise ones take i32 only, whose arithmetic wraps around; a shift takes its count modulo 32.
enum class BinaryKind {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  shift_right_logical,
};
enum class Direction { eq, ne, lt, le, gt, ge };
enum class ReduceKind { sum, maximum };
// What a product does with its operands: takes them as they are, or rounds them to bf16 first. Sums
// and the result are f32 in both; StableHLO calls the second the algorithm bf16_bf16_f32.
enum class Precision { f32, bf16 };
enum class AttentionResult { output, statistics };

namespace op {

struct Parameter {
  std::string name;
  Type type;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};
struct Constant {
  double value = 0;
  Type type;
  friend bool operator==(const Constant&, const Constant&) = default;
};
struct Iota {  // counts 0, 1, 2, … along `axis`
  std::int64_t axis = 0;
  Type type;
  friend bool operator==(const Iota&, const Iota&) = default;
};
struct Unary {
  UnaryKind kind;
  friend bool operator==(const Unary&, const Unary&) = default;
};
struct Binary {
  BinaryKind kind;
  friend bool operator==(const Binary&, const Binary&) = default;
};
struct Compare {
  Direction direction;
  friend bool operator==(const Compare&, const Compare&) = default;
};
struct Select {  // inputs: predicate, value where true, value where false
  friend bool operator==(const Select&, const Select&) = default;
};
struct Convert {
  Element element;
  friend bool operator==(const Convert&, const Convert&) = default;
};
struct Reduce {  // the reduced axes, ascending, disappear from the shape
  ReduceKind kind;
  Axes axes;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};
struct Broadcast {  // operand axis i becomes result axis axes[i], ascending, of the same size
  Axes axes;
  Shape shape;
  friend bool operator==(const Broadcast&, const Broadcast&) = default;
};
struct Reshape {
  Shape shape;
  friend bool operator==(const Reshape&, const Reshape&) = default;
};
struct Transpose {  // result axis i is operand axis permutation[i]
  Axes permutation;
  friend bool operator==(const Transpose&, const Transpose&) = default;
};
struct Slice {  // start inclusive, limit exclusive, one of each per axis
  Axes start;
  Axes limit;
  friend bool operator==(const Slice&, const Slice&) = default;
};
struct Pad {  // zeros before and after, one count of each per axis
  Axes low;
  Axes high;
  friend bool operator==(const Pad&, const Pad&) = default;
};
struct Concatenate {
  std::int64_t axis = 0;
  friend bool operator==(const Concatenate&, const Concatenate&) = default;
};
struct DotGeneral {  // result axes: batch, free axes of lhs, free axes of rhs
  Axes lhs_batch;
  Axes rhs_batch;
  Axes lhs_contract;
  Axes rhs_contract;
  Precision precision = Precision::f32;  // operands that are bf16 already need bf16
  friend bool operator==(const DotGeneral&, const DotGeneral&) = default;
};
struct GatherRows {  // inputs: table [rows, width], ids i32[…]; result […, width]; ids are clamped
  friend bool operator==(const GatherRows&, const GatherRows&) = default;
};
struct ScatterAddRows {   // inputs: ids i32[…], updates […, width]; result [rows, width]
  std::int64_t rows = 0;  // an id outside [0, rows) adds nothing
  friend bool operator==(const ScatterAddRows&, const ScatterAddRows&) = default;
};

// The sum over devices that run the program together, of the value each of them has here: over
// groups of `devices`, which are `stride` apart (with 1 neighbours; what all of them are is a
// multiple of devices * stride). Only for programs of such devices: the CPU executor is one, and
// refuses it. Its gradient is itself: of a value that devices have alike each holds a share of the
// cotangent, which is the sum of theirs.
struct AllReduce {
  std::int64_t devices = 1;
  std::int64_t stride = 1;
  friend bool operator==(const AllReduce&, const AllReduce&) = default;
};

// Causal attention as one operation, of which no score reaches the memory: softmax(q · kᵀ · scale)
// · v where position i sees the positions 0 to i; with segments, i32 [batch, positions], of those
// only the ones of its own. Only for the CPU executor and for devices whose compiler has it
// (StableHLO has none; it becomes a custom call, of bf16 and without segments).
//
// k and v may have fewer heads than q: each of theirs serves as many neighbours of q's. All are f32
// or all bf16, which then is what is multiplied.
struct Attention {  // inputs: q, k, v, [batch, positions, heads, width]; segments, if any
  double scale = 1;
  // The output has q's heads of v's width. The statistics are what gradients need of the softmax:
  // per query the log of the sum of the exponentials of its scores, f32 [batch, heads, positions].
  AttentionResult result = AttentionResult::output;
  friend bool operator==(const Attention&, const Attention&) = default;
};
// Inputs: q, k, v, statistics, output, the output's cotangent; segments, if any.
struct AttentionGradient {
  double scale = 1;
  std::int64_t input = 0;  // whose cotangent it is, and is like: q, k or v
  friend bool operator==(const AttentionGradient&, const AttentionGradient&) = default;
};

}  // namespace op

using Op =
    std::variant<op::Parameter, op::Constant, op::Iota, op::Unary, op::Binary, op::Compare,
                 op::Select, op::Convert, op::Reduce, op::Broadcast, op::Reshape, op::Transpose,
                 op::Slice, op::Pad, op::Concatenate, op::DotGeneral, op::GatherRows,
                 op::ScatterAddRows, op::AllReduce, op::Attention, op::AttentionGradient>;

// The StableHLO name: "dot_general", "add", …
std::string_view name_of(const Op& op);

// The attributes as text, "" for no attributes: "axes=[0,1] kind=sum". Exact: equal text means
// equal attributes.
std::string attributes_of(const Op& op);

// The devices of each sum among `all`, by the numbers of their first; each device is in one. The
// groups are as large as each other where `all` is what the operation asks for.
std::vector<std::vector<std::int64_t>> groups_of(const op::AllReduce& sum, std::int64_t all);

// Axes of a shape with `rank` axes that are in none of the lists, ascending.
Axes other_axes(std::size_t rank, const Axes& first, const Axes& second = {});

}  // namespace trainward::graph
