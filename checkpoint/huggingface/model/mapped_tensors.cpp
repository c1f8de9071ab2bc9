#include "checkpoint/huggingface/model/mapped_tensors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "checkpoint/disk/safetensors_file.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/format/tensor_files.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_index_bytes = 64U << 20U;
constexpr std::string_view download_hint = "download the model again";

tl::unexpected<Error> bad(const fs::path& where, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), where.string(), std::string(download_hint));
}

using WeightMap = std::map<std::string, std::string, std::less<>>;  // tensor to file

// Only what says where a tensor lies: programs disagree on what "metadata" must hold.
Result<WeightMap> parse_index(std::string_view text, const fs::path& where) {
  auto value = parse_strict_json(text, where.string(), max_model_json_entries);
  if (!value) return bad(where, value.error().what);
  if (!value->is_object()) return bad(where, "is not a JSON object");
  auto entries = get_object(value->get_object(), "weight_map");
  if (!entries) return bad(where, entries.error().what);
  WeightMap map;
  for (const auto& entry : **entries) {
    const std::string tensor(view(entry.key()));
    if (!entry.value().is_string()) {
      return bad(where, fmt::format("tensor '{}' is in no file", tensor));
    }
    std::string file(view(entry.value().get_string()));
    if (!is_plain_name(file)) {
      return bad(where, fmt::format("tensor '{}' is in a file outside this folder", tensor));
    }
    map.emplace(tensor, std::move(file));
  }
  if (map.empty()) return bad(where, "lists no tensor");
  return map;
}

std::vector<std::string> files_of(const WeightMap& map) {
  std::vector<std::string> files;
  files.reserve(map.size());
  for (const auto& [tensor, file] : map) files.push_back(file);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

// What is collected file by file.
struct Collected {
  std::vector<WeightsFile> files;
  std::vector<TensorView> tensors;
  WeightMap map;  // where each tensor was found

  Status add(const fs::path& folder, const std::string& name);
  Status take(const Header& header, const WeightsFile& file, const fs::path& where);
  void sort();
};

Status Collected::take(const Header& header, const WeightsFile& file, const fs::path& where) {
  for (const Slot& slot : header.slots) {
    const auto [entry, is_new] = map.emplace(slot.info.name, file.name);
    if (!is_new) {
      return bad(where, fmt::format("holds tensor '{}', which is in '{}' too", slot.info.name,
                                    entry->second));
    }
    tensors.push_back({slot.info, file.mapping.bytes().subspan(header.data_offset + slot.begin,
                                                               slot.end - slot.begin)});
  }
  return {};
}

Status Collected::add(const fs::path& folder, const std::string& name) {
  const fs::path where = folder / name;
  std::error_code ignored;
  if (!fs::exists(where, ignored)) return bad(where, "is missing");
  auto fd = open_regular(where, O_RDONLY);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) {
    return fail_errno(errno, "look at the file", where.string());
  }
  WeightsFile file{name, std::move(*fd), static_cast<std::uint64_t>(info.st_size), {}};
  auto header =
      read_safetensors_header(file.fd.get(), file.bytes, where.string(), max_model_json_entries);
  if (!header) {
    if (header.error().kind == ErrorKind::corrupt) header.error().hint = download_hint;
    return propagate(header);
  }
  auto mapping = Mapping::open(file.fd.get(), file.bytes, where.string());
  if (!mapping) return propagate(mapping);
  file.mapping = std::move(*mapping);
  if (auto ok = take(*header, file, where); !ok) return ok;
  files.push_back(std::move(file));
  return {};
}

void Collected::sort() {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.info.name < b.info.name; });
}

// Both say the same of every tensor.
Status compare(const WeightMap& index, const WeightMap& found, const fs::path& where) {
  for (const auto& [tensor, file] : found) {
    const auto entry = index.find(tensor);
    if (entry == index.end()) {
      return bad(where, fmt::format("does not list tensor '{}', which is in '{}'", tensor, file));
    }
    if (entry->second == file) continue;
    return bad(where, fmt::format("says that tensor '{}' is in '{}', but it is in '{}'", tensor,
                                  entry->second, file));
  }
  for (const auto& [tensor, file] : index) {
    if (found.contains(tensor)) continue;
    return bad(where, fmt::format("says that tensor '{}' is in '{}', which does not hold it",
                                  tensor, file));
  }
  return {};
}

}  // namespace

Result<MappedTensors> MappedTensors::of_file(const fs::path& folder, const std::string& name) {
  Collected found;
  if (auto ok = found.add(folder, name); !ok) return propagate(ok);
  found.sort();
  return MappedTensors(std::move(found.files), std::move(found.tensors));
}

Result<MappedTensors> MappedTensors::of_index(const fs::path& folder, const std::string& name) {
  const fs::path where = folder / name;
  auto text = read_file(where, max_index_bytes);
  if (!text) return propagate(text);
  auto index = parse_index(*text, where);
  if (!index) return propagate(index);
  const std::vector<std::string> files = files_of(*index);
  if (files.size() > max_shards) {
    return bad(where,
               fmt::format("names {} files, more than the {} allowed", files.size(), max_shards));
  }
  Collected found;
  for (const std::string& file : files) {
    if (auto ok = found.add(folder, file); !ok) return propagate(ok);
  }
  if (auto ok = compare(*index, found.map, where); !ok) return propagate(ok);
  found.sort();
  return MappedTensors(std::move(found.files), std::move(found.tensors));
}

const TensorView* MappedTensors::find(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const TensorView& tensor, std::string_view text) { return tensor.info.name < text; });
  return found != tensors_.end() && found->info.name == name ? &*found : nullptr;
}

}  // namespace trainward::checkpoint::huggingface
