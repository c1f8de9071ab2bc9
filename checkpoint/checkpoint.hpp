// One checkpoint: a folder `step-00001234/` that is whole or does not exist.
//
//   step-00001234/
//     model.safetensors       parameters; or shards, model-00001-of-00003.safetensors …, and
//     model.safetensors.index.json, which says which tensor lies in which
//     optimizer.safetensors   optimizer moments, likewise
//     state.json              what is needed to resume besides tensors (TrainingState)
//     MANIFEST.json           written last: size and XXH3-128 of every other file, per 16 MiB block
//     PINNED                  only when an operator wants to keep it (retention.hpp)
//   latest                    one line, the name of the newest verified folder
//
// Writing: `.tmp-step-…/` → files (O_EXCL, direct write, fsync) → manifest (fsync) → fsync of the
// folder → rename → fsync of the parent → read back from the disk and compared → only then `latest`
// moves; where it cannot, the checkpoint counts all the same. Reading trusts nothing: select() goes
// from the newest folder to the oldest until one verifies, renames the bad aside (`.corrupt-…`) and
// reports them.
//
// One writer a folder; readers may run beside it. No function here keeps a global or a thread;
// saver.hpp is the one that saves in the background.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/disk/io_queue.hpp"
#include "checkpoint/format/state_file.hpp"
#include "checkpoint/format/tensor.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint {

// What a checkpoint is made of: tensors in memory, or tensors fetched while they are written.
struct Contents {
  TrainingState state;
  std::vector<TensorView> model;
  std::vector<TensorView> optimizer;
};
struct StreamedContents {
  TrainingState state;
  std::vector<TensorSource> model;
  std::vector<TensorSource> optimizer;
};

// Told of bytes done and of all bytes there are to do; an error ends the operation with that error.
using Progress = std::function<Status(std::uint64_t done, std::uint64_t total)>;

struct IoOptions {
  Progress progress;            // may be empty
  MakeIoQueue make_queue = {};  // empty: what this machine does best
};

struct SaveOptions {
  std::uint64_t shard_bytes = 0;  // largest size of a tensor file, one tensor at least; 0: no limit
  IoOptions io;
};

// A loaded checkpoint: owns the memory; the views point into it. While it lives nobody's prune
// removes the folder.
class Loaded {
 public:
  Loaded(Loaded&&) noexcept;
  Loaded& operator=(Loaded&&) noexcept;
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded();
  [[nodiscard]] const TrainingState& state() const;
  [[nodiscard]] const std::vector<TensorView>& model() const;
  [[nodiscard]] const std::vector<TensorView>& optimizer() const;

 private:
  friend Result<Loaded> load(const std::filesystem::path& folder, const IoOptions& io);
  friend Result<Loaded> map(const std::filesystem::path& folder);
  struct Files;
  explicit Loaded(std::unique_ptr<Files> files);
  std::unique_ptr<Files> files_;
};

// What a listing shows without reading tensor data.
struct Summary {
  std::filesystem::path path;
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  double loss = 0;
  std::uint64_t bytes = 0;  // all files
  std::int64_t created_wall_ms = 0;
};

struct Rejected {
  std::filesystem::path path;  // where it lies now: renamed aside when it is damaged
  std::string reason;
  std::filesystem::path original;  // where it lay
  std::int64_t step = 0;           // by its name
};

struct Selection {
  std::optional<Summary> chosen;   // empty: nothing to resume from
  std::vector<Rejected> rejected;  // newest first
};

// Commits a checkpoint under `root` (made if missing); returns its folder. An older folder of the
// same step is replaced only by rename. On error nothing of it stays and the previous is intact;
// when the disk is too small the error says how much is missing, before anything is written.
Result<std::filesystem::path> save(const std::filesystem::path& root, const Contents& contents,
                                   const SaveOptions& options = {});
Result<std::filesystem::path> save(const std::filesystem::path& root,
                                   const StreamedContents& contents,
                                   const SaveOptions& options = {});

// Every size, checksum and header is checked; kind corrupt says which file, where and what.
Result<Summary> verify(const std::filesystem::path& folder, const IoOptions& io = {});

// Reads the tensors into memory of this process with the checks of verify(): each byte is read from
// the disk once, and what was checked is what is handed out.
Result<Loaded> load(const std::filesystem::path& folder, const IoOptions& io = {});

// Maps the tensors without copying or reading them: only manifest, sizes and headers are checked.
// For looking at, and after verify(). A disk that fails under a mapping ends the process (SIGBUS).
Result<Loaded> map(const std::filesystem::path& folder);

// Folders that carry a readable manifest, newest step first; a missing root is an empty list.
Result<std::vector<Summary>> list(const std::filesystem::path& root);

// The newest that verifies, at or below `max_step`. Damaged ones are renamed aside on the way;
// those that nobody may read are passed over, but never for nothing: an error when no other is
// left. Kind transient when one cannot be read just now (memory, descriptors): it may be the one to
// choose.
Result<Selection> select(const std::filesystem::path& root, std::int64_t max_step = INT64_MAX,
                         const IoOptions& io = {});

// Sets aside (`.rolled-back-…`) every checkpoint of step `below` and later: they are whole, but
// what they hold went wrong. Returns their steps, newest first; `latest` follows.
Result<std::vector<std::int64_t>> roll_back(const std::filesystem::path& root, std::int64_t below);

// SHA-256 over all tensors of model and optimizer in name order (name, type, shape, bytes): equal
// digests mean bit-identical weights and moments, whatever else the files hold.
Result<std::string> digest(const std::filesystem::path& folder, const IoOptions& io = {});

}  // namespace trainward::checkpoint
