#include "checkpoint/tools/inspect.hpp"

#include <algorithm>

#include "checkpoint/disk/latest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/retention.hpp"
#include "checkpoint/verified.hpp"
#include "common/base/text.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

Inspection::Section section_of(std::string_view name, const Verified& checkpoint,
                               const std::vector<Verified::TensorFile>& files) {
  Inspection::Section section{std::string(name), {}, {}};
  for (const Verified::TensorFile& file : files) {
    const std::string& file_name = checkpoint.manifest.files[file.file].name;
    section.files.push_back(file_name);
    for (const Slot& slot : file.header.slots) section.tensors.push_back({slot.info, file_name});
  }
  std::sort(section.tensors.begin(), section.tensors.end(),
            [](const auto& a, const auto& b) { return a.info.name < b.info.name; });
  return section;
}

}  // namespace

std::uint64_t Inspection::Section::elements() const {
  std::uint64_t sum = 0;
  for (const Tensor& tensor : tensors) {
    sum += byte_count(tensor.info).value_or(0) * 8 / bits_of(tensor.info.dtype);
  }
  return sum;
}

std::uint64_t Inspection::Section::bytes() const {
  std::uint64_t sum = 0;
  for (const Tensor& tensor : tensors) sum += byte_count(tensor.info).value_or(0);
  return sum;
}

bool is_latest(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  return !error && read_latest(whole.parent_path()) == last_component(whole);
}

Result<Inspection> inspect(const fs::path& folder) {
  auto checkpoint = open_verified(folder, Read::headers, {});
  if (!checkpoint) return propagate(checkpoint);
  Inspection found;
  found.summary = summarize(folder, checkpoint->manifest, checkpoint->manifest_bytes);
  for (const FileEntry& file : checkpoint->manifest.files) {
    found.files.push_back({file.name, file.size});
  }
  found.sections = {section_of(name::model, *checkpoint, checkpoint->model),
                    section_of(name::optimizer, *checkpoint, checkpoint->optimizer)};
  found.state = std::move(checkpoint->state);
  if (is_pinned(folder)) found.pin = pinned_because(folder);
  found.latest = is_latest(folder);
  return found;
}

}  // namespace trainward::checkpoint
