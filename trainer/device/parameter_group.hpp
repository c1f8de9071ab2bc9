// Parameters that are trained and that one program updates, with their gradients and moments, on
// every device.
//
// Between steps the gradients are empty. Which lie where in the flat arrays of the host is the
// table's. Borrows its programs. The devices' thread only.
#pragma once

#include <span>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/device/device.hpp"
#include "trainer/device/modules.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/state_views.hpp"

namespace trainward::trainer {

struct GroupPrograms {
  std::optional<DeviceProgram> pack, exchange;
  DeviceProgram finish, update;
  std::vector<bool> packed, exchanged;
};
Result<GroupPrograms> make_programs(Device& device, const GroupModules& modules);

class ParameterGroup {
 public:
  // `table`: of the whole, of which each of the `columns` of the devices has its share.
  ParameterGroup(const ParameterTable& table, std::int64_t columns, Places which,
                 const GroupPrograms& programs);

  // From the host's arrays, which the devices read until Device::finish_uploads(); and back there.
  Status upload(Device& device, const FlatMemory& flat);
  Status download(const FlatMemory& flat) const;

  // Adds what is trained, as this device has it; `scratch` grows as it needs.
  Status add_checksum(std::size_t device, std::vector<std::byte>& scratch,
                      std::uint64_t& checksum) const;

  [[nodiscard]] std::size_t size() const { return which_.size(); }
  // The place in the group of a parameter of the table, or nothing.
  [[nodiscard]] std::optional<std::size_t> find(std::size_t of_table) const;

  [[nodiscard]] const Shards& parameter(std::size_t i) const { return parameters_[i]; }
  // As programs take it: packed as bf16, where some do.
  [[nodiscard]] const Shards& argument(std::size_t i) const {
    return programs_->packed[i] ? packed_[i] : parameters_[i];
  }
  [[nodiscard]] Shards& gradient(std::size_t i) { return gradients_[i]; }

  // Sums the gradients over the devices that have summands of them: once in a step, when all of it
  // is in them.
  Status exchange();
  // Adds the gradients' squares, after the exchange.
  Status finish(Shards& squares);
  // `factors` in the order of UpdateFactor; `clip`, when not null, in place of that one. Leaves no
  // gradients.
  Status update(std::span<const Shards> factors, const Shards* clip);

 private:
  Status pack();
  void take_packed(std::vector<Shards>& results, std::size_t next);

  const ParameterTable* table_;
  std::int64_t columns_;
  Places which_;
  const GroupPrograms* programs_;
  std::vector<Shards> parameters_, packed_, gradients_, means_, variances_;
};

}  // namespace trainward::trainer
