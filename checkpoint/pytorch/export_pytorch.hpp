// A file that torch.load reads out of a checkpoint of ours: the inverse of import_pytorch().
//
// In: a checkpoint folder, verified first. Out: one file, durable under its name. A checkpoint that
// was imported, or descends from one, becomes what it was: names, shapes, order, tied weights, the
// optimizer's settings, without padding rows; the step, the tokens and AdamW's counts have moved on
// by what was trained since. Exported right after the import it is equal bit for bit. When `like`
// names the checkpoint that was imported, it supplies the form and the tensors (a head that is not
// trained) that the exported one lacks. Any other checkpoint becomes
//
//   {"core": …, "ar": …, "sat": …, "opt": AdamW state, "step": …, "seen_tok": …}   AGILLM-3 names
//   {"model": …, "optimizer_state": {NAME: tensor}, "step": …, "tokens": …}        any other
//
// Errors name the folder, the tensor or the file; usage when a tensor that is needed is missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/pytorch/archive/archive.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint::pytorch {

struct ExportOptions {
  std::optional<Layout> layout = {};  // none: that of the imported file, else zip
  std::filesystem::path like = {};    // the imported checkpoint; may be empty
  std::int64_t vocabulary = 0;        // rows to keep when the checkpoint does not say; 0: all
  bool verify = true;                 // read and check everything before writing
  IoOptions io = {};                  // of the verification; its progress covers the writing too
};

Status export_pytorch(const std::filesystem::path& folder, const std::filesystem::path& file,
                      const ExportOptions& options = {});

}  // namespace trainward::checkpoint::pytorch
