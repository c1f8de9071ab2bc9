#include <algorithm>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/verified.hpp"
#include "common/base/digest.hpp"
#include "common/os/mapping.hpp"

namespace trainward::checkpoint {

struct Loaded::Files {
  Fd folder;  // its lock keeps prune away
  TrainingState state;
  std::vector<AlignedMemory> read;
  std::vector<Mapping> mapped;
  std::vector<TensorView> model;
  std::vector<TensorView> optimizer;
};

namespace {

// The bytes of every file, as in the manifest.
using Bytes = std::vector<std::span<const std::byte>>;

// In name order, which does not depend on how the files arrange them.
std::vector<TensorView> views(std::vector<Verified::TensorFile>& files, const Bytes& bytes) {
  std::vector<TensorView> tensors;
  for (Verified::TensorFile& file : files) {
    for (Slot& slot : file.header.slots) {
      tensors.push_back(
          {std::move(slot.info),
           bytes[file.file].subspan(file.header.data_offset + slot.begin, slot.end - slot.begin)});
    }
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

Result<Loaded> load(const std::filesystem::path& folder, const IoOptions& io) {
  auto checkpoint = open_verified(folder, Read::keep, io);
  if (!checkpoint) return propagate(checkpoint);
  Bytes bytes;
  for (std::size_t i = 0; i < checkpoint->files.size(); ++i) {
    bytes.emplace_back(checkpoint->memory[i].bytes().first(checkpoint->files[i].size));
  }
  auto files = std::make_unique<Loaded::Files>();
  files->model = views(checkpoint->model, bytes);
  files->optimizer = views(checkpoint->optimizer, bytes);
  files->folder = std::move(checkpoint->folder);
  files->state = std::move(checkpoint->state);
  files->read = std::move(checkpoint->memory);
  return Loaded(std::move(files));
}

Result<Loaded> map(const std::filesystem::path& folder) {
  auto checkpoint = open_verified(folder, Read::headers, {});
  if (!checkpoint) return propagate(checkpoint);
  auto files = std::make_unique<Loaded::Files>();
  Bytes bytes;
  for (std::size_t i = 0; i < checkpoint->files.size(); ++i) {
    const OpenFile& file = checkpoint->files[i];
    const std::filesystem::path where = folder / checkpoint->manifest.files[i].name;
    auto mapping = Mapping::open(file.fd.get(), file.size, where.string());
    if (!mapping) return propagate(mapping);
    bytes.emplace_back(mapping->bytes());
    files->mapped.push_back(std::move(*mapping));
  }
  files->model = views(checkpoint->model, bytes);
  files->optimizer = views(checkpoint->optimizer, bytes);
  files->folder = std::move(checkpoint->folder);
  files->state = std::move(checkpoint->state);
  return Loaded(std::move(files));
}

Result<std::string> digest(const std::filesystem::path& folder, const IoOptions& io) {
  // Not load(): the tensors may be larger than the memory that is free.
  if (auto ok = verify(folder, io); !ok) return propagate(ok);
  auto checkpoint = map(folder);
  if (!checkpoint) return propagate(checkpoint);
  Sha256 hash;
  hash_tensors(hash, "model", checkpoint->model());
  hash_tensors(hash, "optimizer", checkpoint->optimizer());
  return hash.finish();
}

}  // namespace trainward::checkpoint
