#include <algorithm>
#include <limits>
#include <map>

#include "trainer/cpu/kernels/fused_kernel.hpp"
#include "trainer/cpu/kernels/fused_program.hpp"
#include "trainer/cpu/kernels/tile_op.hpp"

namespace trainward::cpu {
namespace {

namespace op = graph::op;

// Elements of one tile: with some ten values alive it stays within a first-level cache.
constexpr std::int64_t tile_elements = 1024;

class Compiler {
 public:
  explicit Compiler(const FusedPlan& plan)
      : plan_(plan),
        cluster_(plan.fusion.clusters[static_cast<std::size_t>(plan.cluster)]),
        rows_shape_(cluster_.domain.empty()
                        ? Shape{}
                        : Shape(cluster_.domain.begin(), cluster_.domain.end() - 1)) {
    program_.columns = cluster_.domain.empty() ? 1 : cluster_.domain.back();
    program_.rows = graph::element_count(rows_shape_);
    program_.tile_rows = std::max<std::int64_t>(1, tile_elements / program_.columns);
  }

  Result<FusedProgram> run() {
    find_last_uses();
    for (const Value member : cluster_.members) {
      Result<Instruction> instruction = compile(member);
      if (!instruction) return propagate(instruction);
      program_.instructions.push_back(*std::move(instruction));
      release(member);
    }
    // Parts start on a cache line of their own.
    program_.slot_elements = (program_.slot_elements + 15) / 16 * 16;
    return std::move(program_);
  }

 private:
  [[nodiscard]] const View& view(Value value) const { return plan_.legal.views[value.index()]; }
  [[nodiscard]] Level level(Value value) const { return plan_.fusion.level[value.index()]; }
  [[nodiscard]] std::int64_t bytes_of_elements(Value value) const {
    return static_cast<std::int64_t>(bytes_of(plan_.legal.graph.type(value).element));
  }
  [[nodiscard]] bool is_member(Value value) const {
    return plan_.fusion.cluster_of[value.index()] == plan_.cluster;
  }

  void find_last_uses() {
    for (const Value member : cluster_.members) {
      for (const Value input : plan_.legal.graph.node(member).inputs) {
        last_use_[view(input).root] = member;
      }
    }
  }

  Result<Instruction> compile(Value member) {
    const graph::Node& node = plan_.legal.graph.node(member);
    Instruction instruction;
    const Result<TileOp> operation = tile_op(plan_.legal.graph, node);
    if (!operation) return tl::unexpected<Error>(operation.error());
    instruction.function = tile_kernel(*operation);
    instruction.width = level(member) == Level::row ? 1 : program_.columns;
    if (const auto* reduce = std::get_if<op::Reduce>(&node.op)) {
      instruction.width = program_.columns;
      instruction.kind = level(member) == Level::row ? Instruction::Kind::reduce_row
                                                     : Instruction::Kind::reduce_rows;
      const bool sum = reduce->kind == graph::ReduceKind::sum;
      instruction.start = sum ? 0.0F : -std::numeric_limits<float>::infinity();
    }
    for (const Value input : node.inputs) instruction.inputs.push_back(place_of_input(input));
    if (instruction.kind == Instruction::Kind::reduce_rows) {
      instruction.accumulator = take(program_.columns);
      const std::optional<BufferId> buffer = plan_.buffer_of(member);
      instruction.out.buffer = buffer.value_or(0);
      // Dead code elimination leaves no unread results; a sink is always stored.
      if (!buffer) return fail(ErrorKind::usage, "reduce: the result has no storage");
    } else {
      instruction.out = place_of_result(member);
    }
    return instruction;
  }

  Place place_of_result(Value member) {
    const bool full = level(member) == Level::full;
    Place place;
    place.bytes = bytes_of_elements(member);
    place.element_stride = 1;
    place.row_stride = full ? program_.columns : 1;
    if (const std::optional<BufferId> buffer = plan_.buffer_of(member)) {
      place.kind = Place::Kind::buffer;
      place.buffer = *buffer;
    } else {
      // Every slot has room for elements of four bytes.
      place.offset = take_slot(full) * static_cast<std::int64_t>(element_bytes) / place.bytes;
    }
    results_[member] = place;
    return place;
  }

  Place place_of_input(Value input) {
    const View& seen = view(input);
    if (is_member(seen.root)) {
      Place place = results_.at(seen.root);
      // One value per row, spread over the row's elements or used as it is.
      if (level(seen.root) == Level::row && seen.shape == cluster_.domain) place.element_stride = 0;
      return place;
    }
    Place place;
    place.kind = Place::Kind::buffer;
    place.bytes = bytes_of_elements(seen.root);
    place.buffer = *plan_.buffer_of(seen.root);
    place.offset = seen.offset;
    Axes leading(rows_shape_.size());
    for (std::size_t i = 0; i < leading.size(); ++i) leading[i] = static_cast<std::int64_t>(i);
    const bool full = seen.shape.size() == cluster_.domain.size();
    place.element_stride = full && !seen.shape.empty() ? seen.strides.back() : 1;
    if (const std::optional<Span> rows = merge_axes(seen, leading)) {
      place.row_stride = rows->size == 1 ? place.element_stride * program_.columns : rows->stride;
    } else {
      place.row_offsets = offsets_of_rows(seen);
    }
    // In a column of one element any element stride is true; this one lets the tile run as a whole.
    if (!full || program_.columns == 1) place.element_stride = place.row_stride;
    return place;
  }

  [[nodiscard]] std::vector<std::int64_t> offsets_of_rows(const View& seen) const {
    std::vector<std::int64_t> offsets;
    offsets.reserve(static_cast<std::size_t>(program_.rows));
    Shape index(rows_shape_.size(), 0);
    for (std::int64_t row = 0; row < program_.rows; ++row) {
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * seen.strides[i];
      offsets.push_back(offset);
      for (std::size_t i = index.size(); i-- > 0;) {
        if (++index[i] < rows_shape_[i]) break;
        index[i] = 0;
      }
    }
    return offsets;
  }

  std::int64_t take(std::int64_t elements) {
    const std::int64_t offset = program_.slot_elements;
    program_.slot_elements += (elements + 15) / 16 * 16;
    return offset;
  }
  std::int64_t take_slot(bool full) {
    std::vector<std::int64_t>& free = full ? free_full_ : free_row_;
    if (free.empty()) return take(program_.tile_rows * (full ? program_.columns : 1));
    const std::int64_t offset = free.back();
    free.pop_back();
    return offset;
  }
  // Slots whose last reader was `member` serve again.
  void release(Value member) {
    for (const auto& [value, user] : last_use_) {
      if (user != member || !is_member(value)) continue;
      const auto result = results_.find(value);
      if (result == results_.end() || result->second.kind != Place::Kind::slot) continue;
      (level(value) == Level::full ? free_full_ : free_row_)
          .push_back(result->second.offset * result->second.bytes /
                     static_cast<std::int64_t>(element_bytes));
    }
  }

  const FusedPlan& plan_;
  const Cluster& cluster_;
  Shape rows_shape_;
  FusedProgram program_;
  std::map<Value, Place> results_;
  std::map<Value, Value> last_use_;
  std::vector<std::int64_t> free_full_, free_row_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> make_fused_kernel(const FusedPlan& plan) {
  Result<FusedProgram> program = Compiler(plan).run();
  if (!program) return propagate(program);
  return make_fused_kernel(*std::move(program), plan.threads);
}

}  // namespace trainward::cpu
