// Checkpoints of our trainer as folders for other tools: transformers, PEFT, vLLM.
//
// In: a verified checkpoint of a model with a config.json (model_record.hpp). Out: a new folder,
// whole or not there at all (new_folder.hpp). A checkpoint with every weight becomes a model's
// folder: rows beyond config.vocab_size are cut off, a tied lm_head is left out, and a model that
// was not trained a step has the bytes it came with. A checkpoint of adapters becomes PEFT's
// folder. With merge() adapters, ours or PEFT's, and their base become one model's folder.
//
// Memory: a few MiB, the adapters, and the small files. Errors: kind usage with what to do (no such
// model, another base, a value too large for the type, a name that is taken), corrupt with the
// file. Blocks for as long as the disk takes; ends when options.io.progress says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/huggingface/writing/model_card.hpp"

namespace trainward::checkpoint::huggingface {

struct ExportOptions {
  // f32, bf16 or f16 for all tensors of floats; empty: each as in the base, from scratch as
  // config.json says, else f32.
  std::optional<DType> type;
  std::uint64_t shard_bytes = 5'000'000'000;  // largest size of a file, one tensor at least
  std::optional<std::filesystem::path> base;  // where the base lies now; empty: where it was
  // Where tokenizer and chat template lie; empty: in the base, but for a template that the run was
  // trained with and the checkpoint holds.
  std::optional<std::filesystem::path> tokenizer;
  bool any_base = false;  // merge(): onto a base with other weights than the run began from, too
  ModelCardFacts card;
  IoOptions io;
};

struct Exported {
  bool adapter = false;  // PEFT's folder, not a model's
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;         // of all files
  std::vector<std::string> notes;  // what the reader should know, a sentence each
};

Result<Exported> export_model(const std::filesystem::path& checkpoint,
                              const std::filesystem::path& folder,
                              const ExportOptions& options = {});

// `from`: a checkpoint of adapters, or a folder of PEFT's.
Result<Exported> merge(const std::filesystem::path& from, const std::filesystem::path& folder,
                       const ExportOptions& options = {});

}  // namespace trainward::checkpoint::huggingface
