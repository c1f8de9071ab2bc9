// The parameters of embedding and head on the devices: what is trained, in a group for each of the
// two learning rates, and what is not.
//
// Parameters are named by their places in the table. Borrows state and programs. The devices'
// thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/device/device.hpp"
#include "trainer/device/fixed_parameters.hpp"
#include "trainer/device/parameter_group.hpp"
#include "trainer/model/training/state_views.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {

class OuterParameters {
 public:
  // Of each rate the programs, where it has parameters.
  OuterParameters(const ModelState& state, std::int64_t columns,
                  const std::optional<GroupPrograms>& body,
                  const std::optional<GroupPrograms>& head);

  // As ParameterGroup and FixedParameters have them.
  Status upload(Device& device);
  Status download() const;

  Status add_checksum(std::size_t device, std::vector<std::byte>& scratch,
                      std::uint64_t& checksum) const;

  [[nodiscard]] const Shards& parameter(std::size_t place) const;
  // As the head takes it.
  [[nodiscard]] const Shards& argument(std::size_t place) const;
  // Of those of `which` that are trained.
  [[nodiscard]] std::vector<Shards*> gradients(const Places& which);

  // See ParameterGroup; of those that follow one of the two rates.
  Status exchange(RateGroup rate);
  Status finish(Shards& squares);
  // Step number `t`; see ParameterGroup::update.
  Status update(Device& device, const TrainingSpec& spec, const optim::AdamW& optimizer,
                std::int64_t t, const Shards* clip);

 private:
  struct Group {
    RateGroup rate;
    ParameterGroup parameters;
  };

  const ModelState& state_;
  FixedParameters fixed_;
  std::vector<Group> groups_;  // body, then head
};

}  // namespace trainward::trainer
