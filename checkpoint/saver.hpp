// Saves in the background: the caller pays for one copy of its tensors and continues.
//
//   reserve()  memory for a copy is taken, once, before training begins
//   warm_up()  a thread touches that memory, so that the first copy is as fast as the others
//   begin()    tensors → copy (the only part that the caller waits for) → a thread writes it
//   take()     has it ended?        wait()  until it has ended
//
// One save at a time: begin() while one is running is refused with kind transient and changes
// nothing. The copy has the form of the files, so the disk reads straight from it. Everything
// else as in save(). One thread uses a Saver; its own thread lives no longer than it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/aligned_memory.hpp"

namespace trainward::checkpoint {

class Saver {
 public:
  struct Outcome {
    std::int64_t step = 0;
    Result<std::filesystem::path> folder;
    std::int64_t write_ms = 0;  // from the copy until it was durable and read back
  };

  explicit Saver(std::filesystem::path root, SaveOptions options = {});
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  ~Saver();  // waits for the save that is running

  // Takes memory for contents of this size, and no more of it is taken later while they do not
  // grow. Kind transient when the machine has too little to spare, here or in begin(): then save()
  // still works.
  Status reserve(const Contents& contents);

  // At the lowest priority, once; to be called when the caller can spare the processor.
  void warm_up();

  // The tensors may change as soon as it returns. Reserves when reserve() has not.
  Status begin(const Contents& contents);

  // Empty while it is running, and when nothing was begun since the last outcome.
  std::optional<Outcome> take();
  // Empty only when nothing was begun since the last outcome.
  std::optional<Outcome> wait();

  // Step of the save that is running or whose outcome was not taken yet.
  [[nodiscard]] std::optional<std::int64_t> pending() const;

 private:
  Status grow(std::uint64_t bytes);
  Status populated();

  std::filesystem::path root_;
  SaveOptions options_;
  AlignedMemory arena_;
  bool warm_ = false;
  std::future<Status> populating_;  // the arena's pages
  AlignedMemory buffers_;           // of reading back; the thread's while one is running
  std::int64_t step_ = 0;
  std::future<Outcome> running_;
};

}  // namespace trainward::checkpoint
