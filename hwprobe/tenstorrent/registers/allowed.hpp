// The addresses a probe may read. Some others hang the chip (a Tensix debug register does so by
// design), so live backends refuse everything that is not listed.
//
// In: an access as RegisterIo has it. Out: success, or an error of kind usage that names the
// access.
#pragma once

#include <cstdint>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

Status may_read_config(std::uint32_t offset);
Status may_read_bar(std::uint32_t offset);
Status may_read_noc(unsigned x, unsigned y, std::uint64_t address);

}  // namespace trainward::hwprobe
