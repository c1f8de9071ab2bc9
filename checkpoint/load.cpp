#include <algorithm>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/mapping.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/verified.hpp"
#include "common/digest.hpp"

namespace trainward::checkpoint {

struct Loaded::Files {
  TrainingState state;
  Mapping model_bytes;
  Mapping optimizer_bytes;
  std::vector<TensorView> model;
  std::vector<TensorView> optimizer;
};

namespace {

// In name order, which does not depend on how the file arranges them.
std::vector<TensorView> views(Header& header, std::span<const std::byte> file) {
  std::vector<TensorView> tensors;
  tensors.reserve(header.slots.size());
  for (Slot& slot : header.slots) {
    tensors.push_back({std::move(slot.info),
                       file.subspan(header.data_offset + slot.begin, slot.end - slot.begin)});
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.info.name < b.info.name; });
  return tensors;
}

// Every field is followed by a separator or has a fixed form, so two different sets of tensors
// never hash the same text.
void hash_tensors(Sha256& hash, std::string_view section, const std::vector<TensorView>& tensors) {
  hash.update(fmt::format("{} {}\n", section, tensors.size()));
  for (const TensorView& tensor : tensors) {
    hash.update(fmt::format("{} {} {} [{}] {}\n", tensor.info.name.size(), tensor.info.name,
                            to_string(tensor.info.dtype), fmt::join(tensor.info.shape, ","),
                            tensor.bytes.size()));
    hash.update({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
  }
}

}  // namespace

Loaded::Loaded(std::unique_ptr<Files> files) : files_(std::move(files)) {}
Loaded::Loaded(Loaded&&) noexcept = default;
Loaded& Loaded::operator=(Loaded&&) noexcept = default;
Loaded::~Loaded() = default;

const TrainingState& Loaded::state() const { return files_->state; }
const std::vector<TensorView>& Loaded::model() const { return files_->model; }
const std::vector<TensorView>& Loaded::optimizer() const { return files_->optimizer; }

Result<Loaded> load(const std::filesystem::path& folder) {
  // Not from the disk: the pages that are checked are the pages that are then mapped.
  auto checkpoint = open_verified(folder, ReadFrom::cache);
  if (!checkpoint) return propagate(checkpoint);
  auto model = Mapping::open(checkpoint->model_file.fd.get(), checkpoint->model_file.size,
                             (folder / name::model).string());
  if (!model) return propagate(model);
  auto optimizer =
      Mapping::open(checkpoint->optimizer_file.fd.get(), checkpoint->optimizer_file.size,
                    (folder / name::optimizer).string());
  if (!optimizer) return propagate(optimizer);
  auto files = std::make_unique<Loaded::Files>();
  files->state = std::move(checkpoint->state);
  files->model_bytes = std::move(*model);
  files->optimizer_bytes = std::move(*optimizer);
  files->model = views(checkpoint->model, files->model_bytes.bytes());
  files->optimizer = views(checkpoint->optimizer, files->optimizer_bytes.bytes());
  return Loaded(std::move(files));
}

Result<std::string> digest(const std::filesystem::path& folder) {
  auto checkpoint = load(folder);
  if (!checkpoint) return propagate(checkpoint);
  Sha256 hash;
  hash_tensors(hash, "model", checkpoint->model());
  hash_tensors(hash, "optimizer", checkpoint->optimizer());
  return hash.finish();
}

}  // namespace trainward::checkpoint
