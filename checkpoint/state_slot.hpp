// A checkpoint in memory that outlives the process: one memfd, held by somebody else as well.
//
//   bytes 0 … 4095   SlotHeader, in the machine's own byte order
//   then             the manifest, with the checksums of all that follows (format/manifest.hpp)
//   then             the files of the checkpoint, each from the start of a page
//
// Writing: not complete → files → manifest → complete. A process that is killed in between leaves a
// slot that says so; the owner of two writes into the older one, and keeps the newer. What a killed
// process has written is in the memory of the file, so nothing needs to be flushed; a power cut
// loses all of it. Reading trusts nothing: open_slot() compares every byte with its checksum.
//
// A slot has one user at a time, who writes or reads. Its memory is the file's, and is charged to
// the cgroup of its first writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "common/os/fd.hpp"

namespace trainward::checkpoint {

struct Image;

// What a look without reading tells; it proves nothing.
struct SlotClaim {
  std::int64_t step = 0;
  std::int64_t takings = 0;  // attempts that began from it so far
};

class StateSlot {
 public:
  // `name`: in messages, "memory slot 1".
  StateSlot(Fd memory, std::string name) : memory_(std::move(memory)), name_(std::move(name)) {}
  StateSlot(StateSlot&& other) noexcept;
  StateSlot& operator=(StateSlot&&) = delete;
  StateSlot(const StateSlot&) = delete;
  StateSlot& operator=(const StateSlot&) = delete;
  ~StateSlot();

  // Nothing: it is empty, or torn.
  [[nodiscard]] std::optional<SlotClaim> claim() const;
  // Another attempt begins from it.
  Status take();
  // It is empty from then on, and its memory is given back.
  void clear();

  // Takes the memory for contents of this size, page by page, so that none is missing later. Kind
  // transient: the machine has not got as much to give.
  Status reserve(const Contents& contents);
  // The tensors must not change meanwhile.
  Status write(const Contents& contents);

  // All of it has been compared with its checksums: until it is written, opening it again need not
  // do so, and reading does in any case.
  void has_been_compared() { compared_ = true; }
  [[nodiscard]] bool compared() const { return compared_; }

  [[nodiscard]] std::uint64_t allocated() const;  // bytes that it takes now
  [[nodiscard]] int fd() const { return memory_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Status grow(std::uint64_t bytes);
  void unmap();

  Fd memory_;
  std::string name_;
  std::span<std::byte> bytes_;  // mapped for writing
  bool compared_ = false;
};

// So much memory a slot takes for these contents.
Result<std::uint64_t> slot_bytes(const Contents& contents);

}  // namespace trainward::checkpoint
