#include "trainer/n300_sim/plugin/plugin_machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "trainer/n300_sim/device_text.hpp"

namespace trainward::n300 {
namespace {

std::vector<double> slowness_of(const Card& card) {
  std::vector<double> all;
  for (const CardChip& chip : card.chips) all.push_back(chip.slowness);
  return all;
}

}  // namespace

DeviceBlock::~DeviceBlock() {
  if (machine_ == nullptr) return;
  machine_->chips_[chip_].give(bytes_);
  machine_->pool_.give(std::move(memory_));
}

Result<std::shared_ptr<Machine>> Machine::create(const Settings& settings, int threads) {
  auto runtime = cpu::Runtime::create(threads);
  if (!runtime) return propagate(runtime);
  return std::shared_ptr<Machine>(new Machine(settings, *std::move(runtime)));
}

Machine::Machine(const Settings& settings, std::unique_ptr<cpu::Runtime> runtime)
    : settings_(settings),
      runtime_(std::move(runtime)),
      timelines_(slowness_of(settings.card), settings.card.link),
      thread_(std::this_thread::get_id()) {
  for (const CardChip& chip : settings.card.chips) {
    chips_.emplace_back(chip.dram_bytes, chip.base_bytes);
  }
  for (const CardBoard& board : settings.card.boards) {
    faults_.emplace_back(board.script, settings.attempt);
  }
}

Answer<void> Machine::check_thread() const {
  if (std::this_thread::get_id() == thread_) return {};
  return fail_internally("the client belongs to the thread that created it");
}

Answer<void> Machine::check_open() const {
  if (open_) return {};
  return fail_internally("the mesh device is closed");
}

Failure Machine::refused(std::size_t chip, std::size_t bytes, const Error& error) const {
  if (settings_.card.script().oom == OutOfMemory::error_13) {
    return fail_internally(out_of_memory_report(error.what)).value();
  }
  return {pjrt::abi::Error_Code_RESOURCE_EXHAUSTED,
          fmt::format("Out of memory while trying to allocate {} bytes on device {}: {}", bytes,
                      chip, error.what),
          {}};
}

Answer<DeviceBlock> Machine::allocate(std::size_t chip, std::size_t device_bytes,
                                      std::size_t stored_bytes) {
  if (const auto ok = chips_[chip].take(device_bytes); !ok) {
    return tl::unexpected<Failure>(refused(chip, device_bytes, ok.error()));
  }
  auto memory = pool_.take(stored_bytes);
  if (!memory) {
    chips_[chip].give(device_bytes);
    return fail_internally(fmt::format("std::bad_alloc: {}", memory.error().message()));
  }
  return DeviceBlock(shared_from_this(), chip, device_bytes, *std::move(memory));
}

Answer<std::vector<Machine::BitFlip>> Machine::before(std::string_view program) {
  std::vector<BitFlip> flips;
  bool begins_step = false;
  for (std::size_t board = 0; board < faults_.size(); ++board) {
    const Turn turn = faults_[board].next(program);
    switch (turn.fate) {
      case Fate::runs:
        break;
      case Fate::hangs:
        hang();
      case Fate::aborts:
        print_report(abort_report());
        std::abort();
      case Fate::loses_ethernet:
        close();
        return fail_internally(ethernet_lost_report());
    }
    begins_step = turn.begins_step;
    if (turn.flips) add_flip(board, flips);
  }
  if (!begins_step) return flips;
  for (std::size_t chip = 0; chip < chips_.size(); ++chip) {
    const std::uint64_t leak = settings_.card.chips[chip].leak_bytes_per_step;
    if (const auto ok = chips_[chip].take(leak); !ok) {
      return tl::unexpected<Failure>(refused(chip, leak, ok.error()));
    }
  }
  return flips;
}

void Machine::add_flip(std::size_t board, std::vector<BitFlip>& flips) const {
  const Flip& flip = *settings_.card.boards[board].script.flip;
  const std::vector<CardChip>& chips = settings_.card.chips;
  for (std::size_t chip = 0; chip < chips.size(); ++chip) {
    if (chips[chip].board == board && chips[chip].id == flip.chip)
      flips.push_back({chip, flip.bit});
  }
}

// Signal handlers run; the program keeps hanging.
void Machine::hang() const {
  if (settings_.operation_timeout_s <= 0) {
    for (;;) ::pause();
  }
  constexpr double longest_s = 1e8;  // three years: what a clock can add
  const std::chrono::duration<double> time(std::min(settings_.operation_timeout_s, longest_s));
  std::this_thread::sleep_for(std::chrono::duration_cast<std::chrono::nanoseconds>(time));
  print_report(device_timeout_report());
  std::abort();
}

void Machine::catch_up() {
  constexpr std::chrono::seconds most_behind(2);
  const Instant when = timelines_.chips_end() - most_behind;
  if (!alarm_->has_come(when)) alarm_->wait(when);
}

Result<std::byte*> Machine::workspace(std::size_t bytes) {
  if (workspace_.size() < bytes) {
    workspace_ = {};
    auto larger = cpu::Memory::allocate(bytes);
    if (!larger) return propagate(larger);
    workspace_ = *std::move(larger);
  }
  return workspace_.data();
}

}  // namespace trainward::n300
