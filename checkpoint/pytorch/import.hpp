// A checkpoint of ours out of a file that torch.save wrote.
//
// In: a .pt file of either layout (archive.hpp). Out: a committed, verified checkpoint under
// `root`. An AGILLM-3 file gets the tensor names of our trainer and a padded vocabulary, any other
// keeps its own (import_plan.hpp). What is no tensor goes to the state's `extra` as JSON, from
// which export_pytorch() makes the same file again:
//
//   extra.pytorch = {"version": 1, "layout": "legacy", "agillm": true, "step": …, "tokens": …,
//                    "vocabulary": 128815, "padded_vocabulary": 128832, "root": … (skeleton.hpp)}
//
// Tensors are streamed: memory is some tens of MiB whatever the size of the file. Errors: corrupt
// for a damaged or hostile file, permanent for one with what a checkpoint cannot hold, and those of
// checkpoint::save(). On error nothing is left behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/pytorch/archive/archive.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint::pytorch {

struct ImportOptions {
  std::optional<std::int64_t> step = {};  // instead of the one in the file
  std::string run = {};                   // of the state that is written
  std::string config_digest = {};         // a resume compares it with the trainer's own
  std::int64_t row_multiple = 32;         // of an AGILLM-3 vocabulary; 1: no padding
  SaveOptions save = {};                  // shards, progress
};

struct Imported {
  std::filesystem::path folder;
  Layout layout = Layout::zip;
  bool agillm = false;
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  std::size_t model_tensors = 0;
  std::size_t optimizer_tensors = 0;
  std::uint64_t bytes = 0;             // of all tensors
  std::int64_t vocabulary = 0;         // rows in the file; 0 when there is no embedding
  std::int64_t padded_vocabulary = 0;  // rows in the checkpoint
  std::vector<std::string> notes;      // what a person should know
};

Result<Imported> import_pytorch(const std::filesystem::path& file,
                                const std::filesystem::path& root,
                                const ImportOptions& options = {});

// What would be imported: the same checks without reading tensor data or writing.
struct Inspection {
  Imported summary;  // without a folder
  StreamedContents contents;
};
Result<Inspection> inspect_pytorch(SharedSource source, const ImportOptions& options = {});

}  // namespace trainward::checkpoint::pytorch
