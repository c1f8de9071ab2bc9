// The programs of a model whose blocks run on a device, ready to be printed: the segments of a
// training step (trainer/model/training/segments.hpp), their sums over batches, and the optimizer,
// each lowered to what accelerators take.
//
// A block's programs are made once and run for every layer. Every module is for all `devices`
// together: each row of them with its part of the sequences, and each device of a row with its
// share of the parameters (trainer/model/columns.hpp), which with one column are all. Parameters of
// a program come in the order: what the segment takes, then sums so far (`…_more`). What is not
// trained is taken as it is kept (ParameterInfo::element), and nothing is made of it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/segments.hpp"
#include "trainer/stablehlo/lower.hpp"
#include "trainer/stablehlo/module.hpp"

namespace trainward::trainer {

enum class Placement {
  host,    // embedding and head stay with the CPU executor, as an N300 needs
  device,  // all of the model is on the device
};

enum class AttentionUse {
  plain,          // products and a softmax: every device has them
  where_it_fits,  // one operation (op::Attention), for sizes that cuDNN has it for
  fused,          // that, or an error
};

struct DeviceUse {
  std::int64_t devices = 1;
  Placement placement = Placement::host;
  bool evaluates = true;  // data that is not trained on is looked at, which has programs of its own
  AttentionUse attention = AttentionUse::plain;
  // With a general target results take over the memory of what they replace.
  stablehlo::Target target = stablehlo::Target::tiles;
};

// Parameters that are trained, and updated by one program.
struct GroupModules {
  // (gradients…) -> those, summed over devices; of the parameters for which `exchanged` says so.
  std::optional<stablehlo::Module> exchange;
  std::vector<bool> exchanged;
  stablehlo::Module finish;  // (squares, gradients…) -> squares with theirs
  stablehlo::Module update;  // optimizer_graphs.hpp
  std::vector<bool> packed;  // which of the parameters programs take as bf16
  std::optional<stablehlo::Module>
      pack;  // (parameters…) -> those as bf16; empty when nothing is packed
};

// Results from `first_sum` on are sums over a step's batches. `first` overwrites them, but for
// those from `shared` on, to which the head has added before; `more` adds to all of them.
struct BackwardModules {
  stablehlo::Module first;
  std::optional<stablehlo::Module> more;  // where there are sums, and several batches or pieces
  std::size_t first_sum = 0;
  std::size_t shared = 0;
};

// Between the blocks and a head that takes a batch in several pieces (head_pieces.hpp).
struct PieceModules {
  stablehlo::Module cut, join;
};

struct OuterModules {  // Placement::device
  stablehlo::Module embed;
  std::optional<stablehlo::Module> head_evaluate;
  std::optional<PieceModules> pieces;
  BackwardModules head;
  std::optional<BackwardModules> embed_backward;  // unless the embedding is frozen
  std::optional<stablehlo::Module> clip;  // (squares) -> factor; where gradients are clipped
  // ParameterTable::outer(), by their rates; those that are not empty.
  std::optional<GroupModules> body_group, head_group;
};

struct DeviceModules {
  stablehlo::Module block_forward;
  std::optional<stablehlo::Module> block_evaluate;
  BackwardModules block_backward;
  GroupModules block_group;
  // (squares) -> those of all devices of a row; none: one has them all.
  std::optional<stablehlo::Module> join_squares;
  std::optional<OuterModules> outer;
  std::size_t kept = 0;  // how many values block_forward keeps for block_backward

  [[nodiscard]] std::vector<const stablehlo::Module*> all() const;
};

// `part`: the work of one row of devices. Errors (usage): what cannot be lowered.
Result<DeviceModules> make_modules(const TrainingSpec& part, const DeviceUse& use);

}  // namespace trainward::trainer
