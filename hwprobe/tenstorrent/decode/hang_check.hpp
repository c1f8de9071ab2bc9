// Does the board still answer? Asked in an order in which a dead part is never asked twice.
//
// In: registers. Out: the first part that does not answer, which ends the check: a read of a hung
// part takes the better part of a second each, and everything behind it reads as all ones anyway.
// What cannot be read at all (no permission, no window) is skipped: no answer is not a hang.
// Source: tt-umd, wormhole_hang_detector.
#pragma once

#include "hwprobe/tenstorrent/registers/register_io.hpp"

namespace trainward::hwprobe {

enum class Hang {
  none,
  off_bus,     // PCI configuration space reads all ones
  bus,         // the ARC tile does not answer over PCIe
  noc,         // NOC0 does not carry a read
  reset_unit,  // the management processor's reset unit reads all ones
};

Hang check_hang(RegisterIo& registers);

// Registers that remember whether they ever read as all ones. That value is allowed, but when it
// comes up the hang check is due again: what was read meanwhile may be no answer at all.
class SuspectRegisters : public RegisterIo {
 public:
  explicit SuspectRegisters(RegisterIo& registers) : registers_(registers) {}

  Result<std::uint32_t> config32(std::uint32_t offset) override;
  Result<std::uint32_t> bar32(std::uint32_t offset) override;
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override;
  Result<DriverInfo> driver() override { return registers_.driver(); }
  Status wait(std::chrono::milliseconds time) override { return registers_.wait(time); }

  [[nodiscard]] bool suspect() const { return suspect_; }
  // After a hang check that was passed.
  void trust_again() { suspect_ = false; }

 private:
  Result<std::uint32_t> seen(Result<std::uint32_t> word);

  RegisterIo& registers_;
  bool suspect_ = false;
};

}  // namespace trainward::hwprobe
