// Register reads reported to a sink as they happen, and replayed from what was reported.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hwprobe/stages/reading.hpp"
#include "hwprobe/tenstorrent/registers/register_io.hpp"

namespace trainward::hwprobe {

// Reads that are also reported: a child reports to its parent, a recording to its file.
//
// In: another RegisterIo, borrowed, and a sink that takes each reading as soon as it was answered.
// Out: the other's answers, unchanged. The sink must not throw.
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

// Registers from a recording.
//
// In: readings, of any keys; others than registers' are ignored. Out: the same answers in the same
// order for each key, the last one repeated until the caller waits: waiting takes no time, and what
// was not read after it is unknown, so a look cut short does not show a heartbeat that stands
// still. Errors: the recorded one again; kind usage ("was not recorded") for what was not read;
// kind corrupt for a value that is not a number.
class ReplayRegisters : public RegisterIo {
 public:
  explicit ReplayRegisters(std::span<const Reading> readings);

  Result<std::uint32_t> config32(std::uint32_t offset) override;
  Result<std::uint32_t> bar32(std::uint32_t offset) override;
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override;
  Result<DriverInfo> driver() override;
  Status wait(std::chrono::milliseconds time) override;

 private:
  struct Answers {
    std::vector<Reading> readings;
    std::size_t next = 0;
    std::size_t given_at = 0;  // waits before the latest answer
  };
  Result<std::string> next(const std::string& key);
  Result<std::uint32_t> word(const std::string& key);

  std::unordered_map<std::string, Answers> answers_;
  std::size_t waits_ = 0;
};

}  // namespace trainward::hwprobe
