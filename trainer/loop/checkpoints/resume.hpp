// Opening the checkpoint that a run resumes from.
//
// In: where to resume from, the configuration, the data. Out: the checkpoint, opened, with the
// progress it holds; its tensors are verified when they are read. Errors: usage, when it is of
// another architecture, was written under another configuration (the settings that differ are named
// where the checkpoint has them on record) or holds a place the data does not have; corrupt, when
// it does not verify.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checkpoint/huggingface/model/model_record.hpp"
#include "checkpoint/reader.hpp"
#include "checkpoint/state_slot.hpp"
#include "common/base/error.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/training_progress.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// How the start was asked for.
struct ResumeRequest {
  enum class How { fresh, fresh_by_hand, newest, folder };
  How how = How::fresh;
  std::filesystem::path from;  // of How::folder
};

// The folder to load, or nothing for a fresh start. `newest` looks in `root` and renames what does
// not verify aside, which `reporter` tells. `fresh_by_hand` refuses a root that has checkpoints
// already: two runs in one folder would resume from each other.
Result<std::optional<std::filesystem::path>> choose_checkpoint(const ResumeRequest& request,
                                                               const std::filesystem::path& root,
                                                               Reporter& reporter);

// Where an attempt begins: a checkpoint's folder, or what the attempt before left in memory.
struct Origin {
  std::filesystem::path folder;
  checkpoint::StateSlot* slot = nullptr;  // then `folder` is what messages call it

  [[nodiscard]] Result<checkpoint::Reader> open() const;
};

// Of a checkpoint folder; -1 without one. What cannot be opened is reported when it is resumed
// from.
std::int64_t step_in(const std::optional<std::filesystem::path>& folder);

// The edition (edition.hpp) that the run of this checkpoint began under. Usage: one of a later
// version of this program.
Result<int> edition_begun_under(const Origin& origin);

struct ResumePoint {
  checkpoint::Reader reader;
  Progress progress;
  bool same_data = true;  // false: the data changed since; the run continues, but not bit for bit
};

// `base`: what the run begins from, without a digest where it does from nothing.
Result<ResumePoint> open_checkpoint(const Origin& origin, const ModelSpec& model,
                                    const checkpoint::huggingface::BaseModel& base,
                                    const RunFacts& facts);

}  // namespace trainward::trainer
