// The simulated board itself: its chips' memory and clocks, its faults, and the processor that
// stands in for it.
//
// Owned together by the client and everything made with it, so that what outlives the client is
// merely useless. All calls on the thread that made it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "trainer/cpu/runtime/runtime.hpp"
#include "trainer/n300_sim/alarm.hpp"
#include "trainer/n300_sim/block_pool.hpp"
#include "trainer/n300_sim/chip_memory.hpp"
#include "trainer/n300_sim/plugin/plugin_failure.hpp"
#include "trainer/n300_sim/plugin/settings.hpp"
#include "trainer/n300_sim/step_faults.hpp"
#include "trainer/n300_sim/timelines.hpp"

namespace trainward::n300 {

class Machine;

// A piece of a chip's memory, and the host's memory behind it. Given back on destruction.
class DeviceBlock {
 public:
  DeviceBlock(std::shared_ptr<Machine> machine, std::size_t chip, std::size_t bytes,
              cpu::Memory memory)
      : machine_(std::move(machine)), chip_(chip), bytes_(bytes), memory_(std::move(memory)) {}
  DeviceBlock(DeviceBlock&&) noexcept = default;
  DeviceBlock& operator=(DeviceBlock&&) = delete;
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  ~DeviceBlock();

  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  [[nodiscard]] std::size_t chip() const { return chip_; }

 private:
  std::shared_ptr<Machine> machine_;  // empty once moved from
  std::size_t chip_;
  std::size_t bytes_;  // in the chip's account
  cpu::Memory memory_;
};

class Machine : public std::enable_shared_from_this<Machine> {
 public:
  // Errors (usage): a thread count out of range; permanent: no processor library.
  static Result<std::shared_ptr<Machine>> create(const Settings& settings, int threads);

  // Every call of the plugin comes through here: another thread than the creator's is refused, and
  // so is a device that was lost.
  [[nodiscard]] Answer<void> check_thread() const;
  [[nodiscard]] Answer<void> check_open() const;

  // `device_bytes` go into the chip's account, `stored_bytes` are what is behind them. The content
  // is undefined. What does not fit is refused as the script says.
  Answer<DeviceBlock> allocate(std::size_t chip, std::size_t device_bytes,
                               std::size_t stored_bytes);

  // A bit that turns over in what a program gives to a chip.
  struct BitFlip {
    std::size_t chip = 0;
    std::int64_t bit = 0;
  };
  // Before each program: counts steps, leaks, and lets the scripts' faults happen. May not return.
  // What is to happen when it has run.
  Answer<std::vector<BitFlip>> before(std::string_view program);
  // The device can no longer be used, as after an exception in the real runtime.
  void close() { open_ = false; }

  // Memory that programs use in turn, at least so large; what it holds is undefined.
  Result<std::byte*> workspace(std::size_t bytes);

  // Waits while a chip is so far behind the host that its queue of programs would be full.
  void catch_up();
  [[nodiscard]] Timelines& timelines() { return timelines_; }
  [[nodiscard]] const std::shared_ptr<Alarm>& alarm() const { return alarm_; }

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const cpu::Runtime& runtime() const { return *runtime_; }
  [[nodiscard]] std::size_t chips() const { return chips_.size(); }
  [[nodiscard]] const ChipMemory& memory(std::size_t chip) const { return chips_[chip]; }

 private:
  friend class DeviceBlock;
  Machine(const Settings& settings, std::unique_ptr<cpu::Runtime> runtime);

  [[nodiscard]] Failure refused(std::size_t chip, std::size_t bytes, const Error& error) const;
  [[noreturn]] void hang() const;
  void add_flip(std::size_t board, std::vector<BitFlip>& flips) const;

  Settings settings_;
  std::unique_ptr<cpu::Runtime> runtime_;
  std::vector<ChipMemory> chips_;
  BlockPool pool_;
  std::vector<StepFaults> faults_;  // of each board
  cpu::Memory workspace_;
  Timelines timelines_;
  std::shared_ptr<Alarm> alarm_ = std::make_shared<Alarm>();  // events may outlive the machine
  std::thread::id thread_;
  bool open_ = true;
};

}  // namespace trainward::n300
