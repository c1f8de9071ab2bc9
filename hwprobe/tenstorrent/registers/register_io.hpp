// Reading a Wormhole board's registers, wherever they are: a card through its driver, a simulator,
// a recording.
//
// In: offsets into PCI configuration space and BAR0, or a tile of NOC0 (x, y) and an address in it;
// all 32-bit words, aligned. Out: the word, little-endian as the host has it. Nothing here writes.
// Errors: what the kernel said, its name first ("ENODEV: …", read_error.hpp); kind usage for an
// address that must not be read (allowed.hpp) and for one that a recording does not have.
// A read of a card may block for ever, or end the process with SIGBUS: do it in a child of its own.
// One thread at a time. Source of all addresses: addresses.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

// What the driver says of itself and of the board, from its own memory: proof that it answers, and
// no proof that the board does.
struct DriverInfo {
  std::uint32_t api = 0;
  std::string version;  // "2.10.1"; empty when the driver is too old to say
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::string bus_id;  // "0000:c1:00.0"

  friend bool operator==(const DriverInfo&, const DriverInfo&) = default;
};

// "2.10.1 api 2 device 1e52:401e at 0000:c1:00.0", and back; "-" for no version.
std::string to_text(const DriverInfo& info);
std::optional<DriverInfo> parse_driver_info(std::string_view text);

class RegisterIo {
 public:
  RegisterIo() = default;
  RegisterIo(const RegisterIo&) = delete;
  RegisterIo& operator=(const RegisterIo&) = delete;
  virtual ~RegisterIo() = default;

  virtual Result<std::uint32_t> config32(std::uint32_t offset) = 0;
  virtual Result<std::uint32_t> bar32(std::uint32_t offset) = 0;
  virtual Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) = 0;
  virtual Result<DriverInfo> driver() = 0;
  // Lets at least this much time pass for the board.
  virtual Status wait(std::chrono::milliseconds time) = 0;
};

}  // namespace trainward::hwprobe
