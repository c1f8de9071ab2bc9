// Parameters between the host, which has the whole, and the devices of each row, which share it
// (trainer/model/columns.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/base/error.hpp"
#include "trainer/device/device.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

// See Device::begin_upload(); `whole` is the devices' until Device::finish_uploads().
Result<Shards> begin_upload(Device& device, const ParameterInfo& info, std::int64_t columns,
                            std::span<const std::byte> whole);

// From the first row.
Status download_whole(const Shards& value, const ParameterInfo& info, std::int64_t columns,
                      std::span<std::byte> whole);

}  // namespace trainward::trainer
