// A checkpoint read straight into the memory it is for: each byte is compared with its checksum on
// the way. What the page cache holds comes from there, by several threads; the rest crosses the
// disk once, past the cache. Needs no memory of its own but 32 MiB.
//
//   open()        manifest, sizes, headers and state are checked; no tensor is read yet
//   read_into()   fills every target, or fails (corrupt: damaged, or not a checkpoint of these
//                 tensors); then the targets hold anything
//
// The folder stays open, and so is not pruned, while a Reader lives. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

class StateSlot;

struct TensorTarget {
  TensorInfo info;
  std::span<std::byte> bytes;  // as many as type and shape need
};

// Fills all targets from somewhere; the tensors there may be more than the targets.
using FillTensors = std::function<Status(const std::vector<TensorTarget>& model,
                                         const std::vector<TensorTarget>& optimizer)>;

// Every target must be among `there` with its type and shape; the error names all that are not, in
// what they differ. `what` names the section: "model".
Status match(std::string_view what, const std::vector<TensorInfo>& there,
             const std::vector<TensorTarget>& targets);

class Reader {
 public:
  static Result<Reader> open(const std::filesystem::path& folder);
  // Of a state slot, all of which is compared with its checksums here already. Errors as
  // open_slot() has them.
  static Result<Reader> open(const StateSlot& slot);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  [[nodiscard]] const TrainingState& state() const;
  // In name order.
  [[nodiscard]] std::vector<TensorInfo> model() const;
  [[nodiscard]] std::vector<TensorInfo> optimizer() const;

  // A section without targets is not read. With a queue of the caller's every byte comes through
  // it.
  Status read_into(const std::vector<TensorTarget>& model,
                   const std::vector<TensorTarget>& optimizer, const IoOptions& io = {}) const;

 private:
  struct Opened;
  explicit Reader(std::unique_ptr<Opened> opened);
  std::unique_ptr<Opened> opened_;
};

}  // namespace trainward::checkpoint
