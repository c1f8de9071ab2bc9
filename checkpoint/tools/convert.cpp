#include "checkpoint/tools/convert.hpp"

#include <unistd.h>

#include <cerrno>

#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/floats.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/tensor_files.hpp"
#include "checkpoint/progress.hpp"
#include "checkpoint/tools/file_sources.hpp"
#include "checkpoint/tools/plain_model.hpp"
#include "checkpoint/verified.hpp"
#include "common/base/number_in.hpp"
#include "common/os/file.hpp"
#include "common/os/folder_removal.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

// What is copied, and the open files that its sources read.
struct Origin {
  StreamedContents contents;
  Verified checkpoint;
  PlainModel plain;
  std::uint64_t verified_bytes = 0;  // that have been read already
};

// How much there is to do: reading a checkpoint to verify it, and twice what will be written.
struct Plan {
  std::uint64_t verify = 0;
  std::uint64_t write = 0;
  [[nodiscard]] std::uint64_t total() const { return verify + 2 * write; }
};

bool is_checkpoint(const fs::path& path) { return !identity(path / name::manifest).empty(); }

// The state that a plain file's metadata knows of.
TrainingState state_of(const PlainModel& plain) {
  TrainingState state;
  const auto& metadata = plain.files.front().header.metadata;
  if (const auto step = metadata.find("step"); step != metadata.end()) {
    const auto number = number_in<std::int64_t>(step->second);
    if (number && *number >= 0) state.step = *number;
  }
  if (const auto run = metadata.find("run"); run != metadata.end()) state.run = run->second;
  return state;
}

std::uint64_t bytes_of(const std::vector<TensorSource>& tensors) {
  std::uint64_t sum = 0;
  for (const TensorSource& tensor : tensors) sum += byte_count(tensor.info).value_or(0);
  return sum;
}

void convert_model(std::vector<TensorSource>& model, std::optional<DType> type) {
  if (!type) return;
  for (TensorSource& tensor : model) {
    if (is_float(tensor.info.dtype)) tensor = converted(std::move(tensor), *type);
  }
}

// Opens without reading tensor data, to know how much there is.
Result<Origin> open_origin(const fs::path& from, Read how, const IoOptions& io) {
  Origin origin;
  if (is_checkpoint(from)) {
    auto checkpoint = open_verified(from, how, io);
    if (!checkpoint) return propagate(checkpoint);
    origin.checkpoint = std::move(*checkpoint);
    origin.contents.state = origin.checkpoint.state;
    append_sources(origin.checkpoint, origin.checkpoint.model, from, origin.contents.model);
    append_sources(origin.checkpoint, origin.checkpoint.optimizer, from, origin.contents.optimizer);
    origin.verified_bytes = origin.checkpoint.manifest.file_bytes();
    return origin;
  }
  auto plain = open_plain_model(from);
  if (!plain) return propagate(plain);
  origin.plain = std::move(*plain);
  origin.contents.state = state_of(origin.plain);
  for (const PlainModel::File& file : origin.plain.files) {
    append_sources(file.file, file.header, file.path, origin.contents.model);
  }
  return origin;
}

Status check_type(std::optional<DType> type) {
  if (!type || *type == DType::f32 || *type == DType::bf16 || *type == DType::f16) return {};
  return fail(ErrorKind::usage, fmt::format("a model cannot be converted to {}", to_string(*type)),
              {}, "choose f32, bf16 or f16");
}

using Write = std::function<Status(const StreamedContents& contents, const SaveOptions& options)>;

// Everything that can be refused is refused before anything is read or written.
Status copy(const fs::path& from, const ConvertOptions& options, bool with_optimizer,
            const std::function<Status(const TrainingState&)>& check, const Write& write) {
  if (auto ok = check_type(options.model_type); !ok) return ok;
  Plan plan;
  {
    auto origin = open_origin(from, Read::headers, {});
    if (!origin) return propagate(origin);
    if (auto ok = check(origin->contents.state); !ok) return ok;
    convert_model(origin->contents.model, options.model_type);
    plan.verify = origin->verified_bytes;
    plan.write = bytes_of(origin->contents.model) +
                 (with_optimizer ? bytes_of(origin->contents.optimizer) : 0);
  }
  const IoOptions& io = options.save.io;
  auto origin =
      open_origin(from, Read::check, {part_of(io.progress, 0, plan.total()), io.make_queue});
  if (!origin) return propagate(origin);
  convert_model(origin->contents.model, options.model_type);
  if (!with_optimizer) origin->contents.optimizer.clear();
  SaveOptions save = options.save;
  save.io.progress = part_of(io.progress, plan.verify, plan.total());
  return write(origin->contents, save);
}

Status must_be_free(const fs::path& path) {
  if (identity(path).empty()) return {};
  return fail(ErrorKind::usage, "exists already", path.string(),
              "nothing is ever replaced: choose another folder, or remove this one");
}

// What a checkpoint has beside the model's files.
Status strip(const fs::path& folder) {
  for (const std::string& name : {std::string(name::manifest), std::string(name::state),
                                  tensor_file_name(name::optimizer, 1, 1)}) {
    const fs::path file = folder / name;
    if (::unlink(file.c_str()) != 0) {
      return fail_errno(errno, "remove the file", file.string());
    }
  }
  return fsync_folder(folder);
}

// Written as a checkpoint in a temporary folder, with all that makes a checkpoint safe, then
// reduced to the model's files and moved to its name.
Status write_plain(const fs::path& folder, const StreamedContents& contents,
                   const SaveOptions& options) {
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  if (auto ok = make_root(parent); !ok) return ok;
  auto temporary = make_temporary(parent, contents.state.step);
  if (!temporary) return propagate(temporary);
  auto done = [&]() -> Status {
    auto saved = save(temporary->path, contents, options);
    if (!saved) return propagate(saved);
    if (auto ok = strip(*saved); !ok) return ok;
    if (auto ok = move_to_free_name(*saved, folder); !ok) {
      auto free = must_be_free(folder);
      return free ? ok : free;
    }
    return fsync_folder(parent);
  }();
  (void)remove_tree(temporary->path);
  return done;
}

}  // namespace

Result<fs::path> convert(const fs::path& from, const fs::path& root,
                         const ConvertOptions& options) {
  fs::path folder;
  auto done = copy(
      from, options, true,
      [&](const TrainingState& state) { return must_be_free(root / step_name(state.step)); },
      [&](const StreamedContents& contents, const SaveOptions& save_options) -> Status {
        auto saved = save(root, contents, save_options);
        if (!saved) return propagate(saved);
        folder = std::move(*saved);
        return {};
      });
  if (!done) return propagate(done);
  return folder;
}

Status convert_to_plain_model(const fs::path& from, const fs::path& folder,
                              const ConvertOptions& options) {
  // "folder/" has no last component of its own to rename to.
  const fs::path target = folder.has_filename() ? folder : folder.parent_path();
  return copy(
      from, options, false, [&](const TrainingState&) { return must_be_free(target); },
      [&](const StreamedContents& contents, const SaveOptions& save_options) {
        return write_plain(target, contents, save_options);
      });
}

}  // namespace trainward::checkpoint
