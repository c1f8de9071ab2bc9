#include "checkpoint/huggingface/writing/checkpoint_model.hpp"

#include <utility>

#include "checkpoint/progress.hpp"
#include "checkpoint/tools/file_sources.hpp"

namespace trainward::checkpoint::huggingface {

Result<CheckpointModel> CheckpointModel::open(const std::filesystem::path& folder) {
  auto files = open_verified(folder, Read::headers, {});
  if (!files) return propagate(files);
  auto record = record_of(files->state);
  if (!record) {
    if (record.error().where.empty()) record.error().where = folder.string();
    return propagate(record);
  }
  CheckpointModel model{folder, std::move(*files), std::move(*record), {}};
  append_sources(model.files, model.files.model, folder, model.tensors);
  return model;
}

std::uint64_t CheckpointModel::bytes() const {
  std::uint64_t sum = 0;
  for (const Verified::TensorFile& file : files.model) sum += files.files[file.file].size;
  return sum;
}

Status CheckpointModel::check(const IoOptions& io, std::uint64_t total) const {
  const IoOptions telling{part_of(io.progress, 0, total), io.make_queue};
  FileChecker checker(files, folder, telling);
  for (const Verified::TensorFile& file : files.model) {
    if (auto ok = checker.check(file.file, {}); !ok) return ok;
  }
  return {};
}

}  // namespace trainward::checkpoint::huggingface
