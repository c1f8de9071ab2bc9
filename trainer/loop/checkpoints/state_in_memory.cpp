#include "trainer/loop/checkpoints/state_in_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "checkpoint/reader.hpp"
#include "common/base/number_in.hpp"
#include "common/base/text.hpp"
#include "common/wire/kept_state.hpp"

namespace trainward::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// A number that leads to something else than the shim's memory belongs to somebody else in this
// process.
std::optional<Fd> own(std::string_view number) {
  const auto fd = number_in<int>(number);
  if (!fd || *fd <= STDERR_FILENO || !is_state_of(*fd, ::geteuid())) return std::nullopt;
  std::error_code failed;
  const auto name = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", *fd), failed);
  if (failed || !name.string().starts_with("/memfd:trainward-state")) return std::nullopt;
  ::fcntl(*fd, F_SETFD, FD_CLOEXEC);
  return Fd(*fd);
}

}  // namespace

std::unique_ptr<StateInMemory> StateInMemory::open(const std::string& numbers, Reporter& reporter) {
  if (numbers.empty()) return nullptr;
  const std::size_t comma = std::min(numbers.find(','), numbers.size() - 1);
  auto one = own(std::string_view(numbers).substr(0, comma));
  auto two = own(std::string_view(numbers).substr(comma + 1));
  if (!one || !two) {
    reporter.status("state is not kept in memory: the descriptors that were named are not its");
    return nullptr;
  }
  return std::make_unique<StateInMemory>(
      std::array{checkpoint::StateSlot(std::move(*one), "memory slot 1"),
                 checkpoint::StateSlot(std::move(*two), "memory slot 2")},
      reporter);
}

checkpoint::StateSlot* StateInMemory::newest(const std::string& run, std::int64_t after_step) {
  const auto refuse = [&](const checkpoint::StateSlot& slot, std::string_view why) {
    reporter_.status(fmt::format("{} is not resumed from: {}", slot.name(), why));
  };
  for (const checkpoint::StateSlot* torn : slots_.incomplete()) {
    auto opened = checkpoint::Reader::open(*torn);
    if (!opened && opened.error().kind == ErrorKind::corrupt)
      refuse(*torn, "it " + opened.error().what);
  }
  for (checkpoint::StateSlot* slot : slots_.newest()) {
    const checkpoint::SlotClaim claim = slot->claim().value_or(checkpoint::SlotClaim{});
    if (claim.step <= after_step) {
      if (claim.step < after_step) {
        refuse(*slot, fmt::format("it holds step {}, and the checkpoint on the disk step {}",
                                  claim.step, after_step));
      }
      continue;
    }
    if (claim.takings >= most_takings) {
      refuse(*slot, fmt::format("{} began from its step {}, and none came further",
                                count(claim.takings, "attempt"), claim.step));
      continue;
    }
    auto opened = checkpoint::Reader::open(*slot);
    if (!opened) {
      refuse(*slot, "it " + opened.error().what);
    } else if (opened->state().run != run) {
      refuse(*slot, fmt::format("it is of the run '{}'", clean(opened->state().run)));
    } else if (opened->state().step != claim.step) {
      refuse(*slot, "it says of its step what is not so");
    } else {
      slot->has_been_compared();
      return slot;
    }
  }
  return nullptr;
}

void StateInMemory::reserve(checkpoint::Contents sample, std::optional<std::int64_t> available,
                            std::uint64_t promised, bool spare) {
  auto bytes = checkpoint::slot_bytes(sample);
  if (!bytes) return reporter_.error(bytes.error().message());
  // As much as one more copy must stay free for everything else.
  const std::uint64_t taken = slots_.allocated();
  const std::uint64_t needed = promised + 3 * *bytes - std::min(taken, 2 * *bytes);
  const auto there = static_cast<std::uint64_t>(std::max<std::int64_t>(available.value_or(0), 0));
  if (available && needed > there) {
    slots_.clear();
    return reporter_.status(
        fmt::format("state is not kept in memory between checkpoints: two copies of {} need {} to "
                    "be available, {} are",
                    human_bytes(*bytes), human_bytes(needed), human_bytes(there)));
  }
  reporter_.status(fmt::format("state is kept in memory between checkpoints: two copies of {}",
                               human_bytes(*bytes)));
  pace_.emplace(spare);
  slots_.reserve(std::move(sample));
}

bool StateInMemory::remember(std::chrono::nanoseconds took,
                             const std::function<Result<checkpoint::Contents>()>& contents) {
  if (!pace_) return false;
  pace_->stepped(took);
  if (auto ended = slots_.take()) note(*ended, {});
  if (!pace_ || !pace_->due() || slots_.running()) return false;
  const auto began = Clock::now();
  auto what = contents();
  if (!what || !slots_.begin(std::move(*what))) return false;
  prepared_ = Clock::now() - began;
  pace_->begun();
  return true;
}

void StateInMemory::settle() {
  // Memory that is being taken is waited for by nobody.
  if (!slots_.copying()) return;
  const auto began = Clock::now();
  if (auto ended = slots_.wait()) note(*ended, Clock::now() - began);
}

void StateInMemory::note(const checkpoint::SlotPair::Outcome& outcome,
                         std::chrono::nanoseconds waited) {
  if (!outcome.done) {
    reporter_.status(
        fmt::format("state is not kept in memory from now on: {}", outcome.done.error().message()));
    pace_.reset();
    slots_.clear();
  } else if (outcome.step >= 0) {
    step_ = outcome.step;
    if (pace_) pace_->copied(prepared_ + waited, outcome.processor);
  }
}

}  // namespace trainward::trainer
