// Embedding and head of a model whose blocks run on devices: with the CPU executor
// or on the devices too.
//
// A step: embed, head, embed_backward for each batch; finish; then loss and begin_update,
// end_update, in the order that clip() decides. The devices' thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/device/device.hpp"
#include "trainer/device/modules.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/state_views.hpp"
#include "trainer/model/training/step_executor.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {

class OuterLayers {
 public:
  OuterLayers() = default;
  OuterLayers(const OuterLayers&) = delete;
  OuterLayers& operator=(const OuterLayers&) = delete;
  OuterLayers(OuterLayers&&) = delete;
  OuterLayers& operator=(OuterLayers&&) = delete;
  virtual ~OuterLayers() = default;

  // The input of the first block.
  virtual Result<Shards> embed(const BatchTokens& tokens) = 0;
  // From the last block's output its gradient.
  virtual Result<Shards> head(const BatchTokens& tokens, const Shards& x,
                              const BatchOfStep& batch) = 0;
  virtual Status embed_backward(const BatchTokens& tokens, const Shards& dx,
                                const BatchOfStep& batch) = 0;
  // After the last batch: its gradients become part of the norm, in either of the two.
  virtual Status finish(Shards& squares, optim::AdamW& optimizer) = 0;
  // What gradients of so many squares are multiplied by, where all of them are on the devices: the
  // host need not wait for the norm. Nothing where the host has some of them.
  virtual Result<std::optional<Shards>> clip(const Shards& squares) = 0;
  // Of the step's batches, added up.
  virtual Result<double> take_loss() = 0;
  // The same of each device's own share, of all steps since the last call; empty: the host computes
  // it for all of them together.
  virtual std::vector<double> take_own_losses() { return {}; }
  // Step number `t`, with the optimizer's norm, or `clip` (not null) in its place. What the host
  // does goes on beside the devices until end_update(), which must follow.
  virtual Status begin_update(optim::AdamW& optimizer, std::int64_t t, const Shards* clip) = 0;
  virtual Status end_update() = 0;

  // Loss of a batch that is not trained on.
  virtual Result<double> evaluate(const BatchTokens& tokens, const Shards& x) = 0;

  // From the host's arrays to where it works, and back there.
  virtual Status upload() = 0;
  virtual Status download() = 0;

  // Of what is trained and that each device has a copy of; see ParameterGroup.
  virtual Status add_checksum(std::size_t device, std::vector<std::byte>& scratch,
                              std::uint64_t& checksum) const = 0;

  [[nodiscard]] virtual std::size_t arena_bytes() const = 0;  // of the host
};

// With the CPU executor (Placement::host), on a thread of its own: gradients of the head's
// parameters are computed, and its update is made, while the devices work on the blocks.
// Borrows device and state. `part`: the work of one device.
Result<std::unique_ptr<OuterLayers>> make_host_outer_layers(Device& device,
                                                            const TrainingSpec& part,
                                                            const ModelState& state);

// On the devices (Placement::device).
// Borrows device and state.
Result<std::unique_ptr<OuterLayers>> make_device_outer_layers(Device& device,
                                                              const OuterModules& modules,
                                                              const TrainingSpec& part,
                                                              const ModelState& state);

}  // namespace trainward::trainer
