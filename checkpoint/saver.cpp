#include "checkpoint/saver.hpp"

#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <system_error>

#include "checkpoint/commit.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/image.hpp"
#include "common/os/clock.hpp"

namespace trainward::checkpoint {
namespace {

// Copies every file to a page of its own; the image then stands in `arena` and needs nothing else.
Status copy_into(std::span<std::byte> arena, Image& image) {
  for (ImageFile& file : image.files) {
    const std::uint64_t size = file.source.size;
    const std::uint64_t room = round_to_pages(size);
    if (auto ok = file.source.read(0, arena.first(size)); !ok) return ok;
    std::memset(arena.data() + size, 0, room - size);
    file.source = {size, {}, arena.data()};
    arena = arena.subspan(room);
  }
  return {};
}

}  // namespace

Saver::Saver(std::filesystem::path root, SaveOptions options)
    : root_(std::move(root)), options_(std::move(options)) {}

Saver::~Saver() {
  (void)wait();
  (void)populated();
}

Status Saver::grow(std::uint64_t bytes) {
  if (auto ok = populated(); !ok) return ok;
  if (arena_.bytes().size() >= bytes) return {};
  arena_ = AlignedMemory();  // first: both at once might not fit
  auto memory = AlignedMemory::allocate(bytes);
  if (!memory) return propagate(memory);
  arena_ = std::move(*memory);
  return {};
}

void Saver::warm_up() {
  if (warm_ || running_.valid()) return;
  warm_ = true;
  const auto populate = [this]() -> Status {
    constexpr int last_in_line = 19;
    ::setpriority(PRIO_PROCESS, 0, last_in_line);  // on Linux: of this thread
    return arena_.populate();
  };
  try {
    populating_ = std::async(std::launch::async, populate);
  } catch (const std::system_error&) {
    return;  // no thread available: the first copy touches the memory
  }
}

Status Saver::populated() { return populating_.valid() ? populating_.get() : Status(); }

Status Saver::reserve(const Contents& contents) {
  auto streamed = as_streamed(contents);
  if (!streamed) return propagate(streamed);
  auto image = plan_image(*streamed, options_.shard_bytes, root_);
  if (!image) return propagate(image);
  // The state file grows by a few digits in the course of a run.
  return grow(image->bytes_in_pages() + page_bytes);
}

Status Saver::begin(const Contents& contents) {
  if (running_.valid()) {
    return fail(ErrorKind::transient, fmt::format("the save of step {} is still running", step_),
                (root_ / step_name(contents.state.step)).string(), "save again when it has ended");
  }
  auto streamed = as_streamed(contents);
  if (!streamed) return propagate(streamed);
  auto image = plan_image(*streamed, options_.shard_bytes, root_ / step_name(contents.state.step));
  if (!image) return propagate(image);
  if (auto ok = grow(image->bytes_in_pages()); !ok) return ok;
  if (auto ok = copy_into(arena_.bytes(), *image); !ok) return ok;
  step_ = contents.state.step;
  try {
    const auto write = [this, state = contents.state, staged = std::move(*image)]() -> Outcome {
      const MonoTime began = now().mono;
      auto folder = commit_image(root_, state, staged, options_.io, buffers_);
      return {state.step, std::move(folder), now().mono - began};
    };
    running_ = std::async(std::launch::async, write);
  } catch (const std::system_error& error) {
    return fail(ErrorKind::transient, fmt::format("cannot start a thread: {}", error.what()),
                root_.string(), "raise the limit on processes (ulimit -u)");
  }
  return {};
}

std::optional<std::int64_t> Saver::pending() const {
  return running_.valid() ? std::optional(step_) : std::nullopt;
}

std::optional<Saver::Outcome> Saver::take() {
  if (!running_.valid() ||
      running_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return std::nullopt;
  }
  return wait();
}

std::optional<Saver::Outcome> Saver::wait() {
  if (!running_.valid()) return std::nullopt;
  return running_.get();
}

}  // namespace trainward::checkpoint
