// Reads that are also told to somebody: a child tells its parent, a recording its file.
//
// In: another RegisterIo, borrowed, and a sink that takes each reading as soon as it was answered.
// Out: the other's answers, unchanged. The sink must not throw.
#pragma once

#include <functional>
#include <utility>

#include "hwprobe/stages/reading.hpp"
#include "hwprobe/tenstorrent/registers/register_io.hpp"

namespace trainward::hwprobe {

class RecordingRegisters : public RegisterIo {
 public:
  using Sink = std::function<void(const Reading&)>;

  RecordingRegisters(RegisterIo& registers, Sink sink)
      : registers_(registers), sink_(std::move(sink)) {}

  Result<std::uint32_t> config32(std::uint32_t offset) override;
  Result<std::uint32_t> bar32(std::uint32_t offset) override;
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override;
  Result<DriverInfo> driver() override;
  Status wait(std::chrono::milliseconds time) override;

 private:
  Result<std::uint32_t> told(std::string key, Result<std::uint32_t> word);

  RegisterIo& registers_;
  Sink sink_;
};

}  // namespace trainward::hwprobe
