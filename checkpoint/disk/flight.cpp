#include "checkpoint/disk/flight.hpp"

#include <algorithm>
#include <cerrno>

#include "checkpoint/disk/aligned_memory.hpp"
#include "checkpoint/disk/checkpoint_room.hpp"
#include "checkpoint/disk/direct_io.hpp"

namespace trainward::checkpoint {
namespace {

// A disk that keeps answering with nothing is broken, not slow.
constexpr unsigned max_stalls = 64;

bool is_worth_another_try(std::int64_t result) {
  return result == -EINTR || result == -EAGAIN || result == -EBUSY;
}

}  // namespace

Status Flight::run() {
  Status problem = begin_what_fits();
  while (unanswered_ > 0) {
    const IoQueue::Answer answer = queue_.wait();
    --unanswered_;
    if (!problem) continue;
    problem = take(answer);
    if (problem) problem = finish_what_arrived();
    if (problem) problem = begin_what_fits();
  }
  return problem;
}

Status Flight::begin_what_fits() {
  for (unsigned slot = 0; slot < parts_.size() && begun_ < file_.size; ++slot) {
    Part& part = parts_[slot];
    if (part.stage != Stage::free) continue;
    const auto bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(file_.request_bytes, file_.size - begun_));
    auto memory = prepare_(slot, begun_, bytes);
    if (!memory) return propagate(memory);
    part = {Stage::flying, begun_, bytes, 0, *memory};
    begun_ += bytes;
    submit(slot);
  }
  return {};
}

void Flight::submit(unsigned slot) {
  const Part& part = parts_[slot];
  // Direct I/O takes whole pages; what lies beyond the end of the file is cut off by it or later.
  const auto padded = static_cast<std::uint32_t>(round_to_pages(part.bytes));
  queue_.submit({file_.operation, file_.fd, part.memory + part.done, padded - part.done,
                 part.at + part.done, slot});
  ++unanswered_;
}

Status Flight::take(const IoQueue::Answer& answer) {
  const auto slot = static_cast<unsigned>(answer.tag);
  Part& part = parts_.at(slot);
  const std::uint64_t at = part.at + part.done;
  if (answer.result == -EINVAL && file_.direct && ++stalls_ <= max_stalls) {
    // Some file systems accept the flag and refuse the request.
    make_cached(file_.fd);
    submit(slot);
    return {};
  }
  if (answer.result < 0 && !is_worth_another_try(answer.result)) {
    const auto error = static_cast<int>(-answer.result);
    return fail_errno(error, fmt::format("{} at byte {}", writes() ? "write" : "read", at),
                      file_.where.string(), writes() ? room_hint(error, file_.size) : "");
  }
  const auto moved = static_cast<std::uint64_t>(std::max<std::int64_t>(answer.result, 0));
  if (part.done + moved >= part.bytes) {
    part.stage = Stage::arrived;
    stalls_ = 0;
    return {};
  }
  // A rest that does not begin on a page would be refused: that page is asked for again.
  const auto usable = static_cast<std::uint32_t>(moved / page_bytes * page_bytes);
  stalls_ = usable > 0 ? 0 : stalls_ + 1;
  if (!writes() && answer.result >= 0 && stalls_ > 1) {
    return fail(ErrorKind::corrupt,
                fmt::format("ends at byte {}, {} bytes short", at + moved, file_.size - at - moved),
                file_.where.string());
  }
  if (stalls_ > max_stalls) {
    return fail(
        ErrorKind::transient,
        fmt::format("the disk does not {} anything at byte {}", writes() ? "take" : "give", at),
        file_.where.string(), "look at the kernel log");
  }
  part.done += usable;
  submit(slot);
  return {};
}

Flight::Part* Flight::next_to_finish() {
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& candidate) {
    return candidate.stage == Stage::arrived && (writes() || candidate.at == finished_);
  });
  return part == parts_.end() ? nullptr : &*part;
}

Status Flight::finish_what_arrived() {
  while (Part* part = next_to_finish()) {
    if (auto ok = finish_(part->at, {part->memory, part->bytes}); !ok) return ok;
    finished_ += part->bytes;
    part->stage = Stage::free;
  }
  return {};
}

}  // namespace trainward::checkpoint
