#include "supervisor/ctl/checkpoint_place.hpp"

#include <sys/stat.h>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

constexpr const char* what_to_name = "name a checkpoint (step-…) or the folder that holds them";

tl::unexpected<Failure> failure(std::string what, const std::string& where, std::string hint) {
  return tl::unexpected<Failure>(
      {exit_status::failed, Error{ErrorKind::usage, std::move(what), where, std::move(hint)}});
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

Answer<json::array> on_record_of_one(const Context& context, const std::string& program) {
  return as_array(ask(context, "/v1/programs/" + percent_encoded(program) + "/checkpoints",
                      [&](const store::Store& store) -> Result<json::value> {
                        return store.checkpoints_json(program);
                      }));
}

Answer<json::array> on_record_of_all(const Context& context) {
  const Client client = client_of(context);
  if (!client.document(Method::get, "/v1/version", short_deadline)) {
    return on_record_of_one(context, "");
  }
  auto programs = as_array(call(context, Method::get, "/v1/programs"));
  if (!programs) return programs;
  json::array all;
  for (const json::value& program : *programs) {
    auto rows = on_record_of_one(context, string_or(program.get_object(), "name", ""));
    if (!rows) return rows;
    for (json::value& row : *rows) all.push_back(std::move(row));
  }
  return all;
}

// Where the newest of a program's checkpoints lies.
Answer<fs::path> folder_of_program(const Context& context, const std::string& name) {
  auto rows = on_record_of_one(context, name);
  if (!rows) return tl::unexpected<Failure>(std::move(rows).error());
  std::int64_t newest = -1;
  fs::path folder;
  for (const json::value& row : *rows) {
    if (!row.is_object()) continue;
    const fs::path path = string_or(row.get_object(), "path", "");
    const std::int64_t step = int_or(row.get_object(), "step", 0);
    if (path.empty() || step <= newest || !is_folder(path)) continue;
    newest = step;
    folder = path.parent_path();
  }
  if (!folder.empty()) return folder;
  return failure("is no folder, and no program with checkpoints on record", name, what_to_name);
}

}  // namespace

bool names_a_folder(const std::string& text) {
  // Program names hold no slash.
  return text.find('/') != std::string::npos || is_folder(text);
}

bool is_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / checkpoint::name::manifest, ignored) ||
         fs::weakly_canonical(folder, ignored).filename().string().starts_with("step-");
}

Answer<json::array> checkpoints_on_record(const Context& context, const std::string& program) {
  return program.empty() ? on_record_of_all(context) : on_record_of_one(context, program);
}

Answer<fs::path> folder_of(const Context& context, const std::string& text) {
  if (is_folder(text)) return fs::path(text);
  if (names_a_folder(text)) return failure("no such folder", text, what_to_name);
  return folder_of_program(context, text);
}

Answer<std::vector<fs::path>> checkpoints_of(const Context& context, const std::string& text) {
  const auto folder = folder_of(context, text);
  if (!folder) return tl::unexpected<Failure>(folder.error());
  if (is_checkpoint(*folder)) return std::vector<fs::path>{*folder};
  auto found = checkpoint::step_folders(*folder);
  if (!found) return tl::unexpected<Failure>({exit_status::failed, std::move(found).error()});
  if (found->empty()) return failure("holds no checkpoint", folder->string(), what_to_name);
  return std::move(*found);
}

Answer<fs::path> one_checkpoint_of(const Context& context, const std::string& text) {
  auto all = checkpoints_of(context, text);
  if (!all) return tl::unexpected<Failure>(std::move(all).error());
  if (all->size() == 1) return std::move(all->front());
  const auto readable = checkpoint::list(all->front().parent_path());
  if (readable && !readable->empty()) return readable->front().path;
  return std::move(all->front());
}

Answer<fs::path> root_of(const Context& context, const std::string& text) {
  auto folder = folder_of(context, text);
  if (folder && is_checkpoint(*folder)) {
    return failure("is one checkpoint", text, "name the folder that holds it");
  }
  return folder;
}

std::optional<Credentials> owner_of(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  const fs::path path = whole.has_filename() ? whole : whole.parent_path();
  // The owner of the folder above can replace this one, no matter who owns it.
  for (const fs::path& each : {path.parent_path(), path}) {
    struct stat info {};
    if (::lstat(each.c_str(), &info) == 0 && info.st_uid != 0) {
      return Credentials{info.st_uid, info.st_gid, {info.st_gid}};
    }
  }
  return std::nullopt;
}

}  // namespace trainward::ctl
