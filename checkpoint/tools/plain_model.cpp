#include "checkpoint/tools/plain_model.hpp"

#include <algorithm>

#include "checkpoint/disk/safetensors_file.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/tensor_files.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_index_bytes = 64U << 20U;
constexpr std::string_view download_hint =
    "download the model again; from the Hugging Face cache, copy it with cp -L";

Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (error) return fail_errno(error.value(), "list the folder", folder.string());
  return names;
}

Status add_file(PlainModel& model, int folder_fd, const std::string& name, const fs::path& folder) {
  auto file = open_member(folder_fd, name, folder);
  if (!file) {
    if (file.error().kind == ErrorKind::corrupt) file.error().hint = download_hint;
    return propagate(file);
  }
  auto header = read_safetensors_header(file->fd.get(), file->size, (folder / name).string(),
                                        max_model_json_entries);
  if (!header) return propagate(header);
  model.files.push_back({folder / name, std::move(*file), std::move(*header)});
  return {};
}

Result<PlainModel> open_folder_model(const fs::path& folder) {
  auto fd = open_folder(folder);
  if (!fd) return propagate(fd);
  auto names = names_in(folder);
  if (!names) return propagate(names);
  auto section = section_files(name::model, *names);
  if (!section) {
    return fail(ErrorKind::corrupt, section.error().what, folder.string(),
                "name a checkpoint, a .safetensors file or a folder with a model in it");
  }
  PlainModel model;
  for (const std::string& name : section->tensors) {
    if (auto ok = add_file(model, fd->get(), name, folder); !ok) return propagate(ok);
  }
  if (section->index.empty()) return model;
  auto file = open_member(fd->get(), section->index, folder);
  if (!file) return propagate(file);
  auto text = read_member(*file, max_index_bytes, folder / section->index);
  if (!text) return propagate(text);
  auto index = parse_shard_index(*text, (folder / section->index).string());
  if (!index) {
    index.error().hint = download_hint;
    return propagate(index);
  }
  std::vector<Shard> shards;
  shards.reserve(model.files.size());
  for (const PlainModel::File& one : model.files) {
    shards.push_back({one.path.filename().string(), &one.header});
  }
  auto ok = check_index(*index, shards, (folder / section->index).string());
  if (!ok) {
    ok.error().hint = download_hint;
    return propagate(ok);
  }
  return model;
}

}  // namespace

Result<PlainModel> open_plain_model(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return open_folder_model(path);
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  auto fd = open_folder(parent);
  if (!fd) return propagate(fd);
  PlainModel model;
  auto ok = add_file(model, fd->get(), path.filename().string(), parent);
  if (!ok) return propagate(ok);
  return model;
}

}  // namespace trainward::checkpoint
