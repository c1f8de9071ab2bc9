#include "supervisor/courier/upload/hub/hub_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/courier/upload/hub/card.hpp"
#include "supervisor/courier/upload/target/publication.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::string_view checkpoints_folder = "checkpoints/";
constexpr std::string_view record_ending = ".json";

std::string folder_for(std::string_view name) {
  return fmt::format("{}{}", checkpoints_folder, name);
}

// What others open by its name is at the root, the newest of them.
std::string folder_of(const Package& package, bool is_newest) {
  const bool for_others = package.form == "folder" || package.form == "pytorch";
  return for_others && is_newest ? "" : folder_for(package.name);
}

}  // namespace

std::string record_path(std::string_view name) {
  return fmt::format("{}{}{}", checkpoints_folder, name, record_ending);
}

std::string recorded_name(std::string_view path) {
  if (!path.starts_with(checkpoints_folder) || !path.ends_with(record_ending)) return {};
  path.remove_prefix(checkpoints_folder.size());
  if (path.size() <= record_ending.size()) return {};
  path.remove_suffix(record_ending.size());
  return path.find('/') == std::string_view::npos ? std::string(path) : std::string();
}

std::string file_path(const Record& record, std::string_view file) {
  return record.folder.empty() ? std::string(file) : fmt::format("{}/{}", record.folder, file);
}

std::string record_text(const Record& record) {
  auto value = parse_json(manifest_text(record.program, record.remote), "");
  json::object object = value && value->is_object() ? value->get_object() : json::object();
  object["folder"] = record.folder;
  if (!record.tag.empty()) object["tag"] = record.tag;
  return json::serialize(object) + "\n";
}

Result<Record> parse_record(std::string_view text, std::string_view where) {
  auto remote = parse_manifest(text, where);
  if (!remote) return propagate(remote);
  const auto value = parse_json(text, where);
  const json::object& object = value->get_object();
  Record out{std::move(*remote), string_or(object, "program", ""), string_or(object, "folder", ""),
             string_or(object, "tag", "")};
  if (!out.folder.empty() && !is_safe_name(out.folder)) {
    return fail(ErrorKind::corrupt, "a record's folder leaves the repository", std::string(where));
  }
  return out;
}

std::string latest_text(const Record& record) {
  return json::serialize(json::object{{"name", record.remote.name},
                                      {"step", record.remote.step},
                                      {"saved_ms", record.remote.saved_ms},
                                      {"folder", record.folder},
                                      {"record", record_path(record.remote.name)}}) +
         "\n";
}

Change change_for(const Package& package, const Files& files, const std::vector<Record>& records) {
  Change out;
  out.record.remote = remote_of(package);
  out.record.program = package.program;
  out.record.tag = tag_name(package.milestone);
  if (package.form == "folder") {
    std::erase_if(out.record.remote.files,
                  [](const Remote::File& file) { return file.name == card_name; });
  }
  const Remote& ours = out.record.remote;
  const Record* newest = nullptr;  // of the others
  for (const Record& record : records) {
    if (record.remote.name == package.name) continue;
    if (newest == nullptr || is_newer(record.remote, newest->remote)) newest = &record;
  }
  out.is_newest = newest == nullptr || !is_newer(newest->remote, ours);
  out.record.folder = folder_of(package, out.is_newest);
  std::set<std::string> stay{record_path(package.name)};
  for (const auto& file : ours.files) stay.insert(file_path(out.record, file.name));
  std::set<std::string> deleted;
  for (const Record& record : records) {
    if (!out.is_newest && &record == newest) {
      stay.insert(record_path(record.remote.name));
      for (const auto& file : record.remote.files) stay.insert(file_path(record, file.name));
      continue;
    }
    deleted.insert(record_path(record.remote.name));
    for (const auto& file : record.remote.files) deleted.insert(file_path(record, file.name));
    if (record.remote.name != package.name) out.leaving.push_back(record);
  }
  for (const std::string& path : deleted) {
    if (stay.count(path) == 0 && files.count(path) != 0) out.deleted.push_back(path);
  }
  return out;
}

std::string tag_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    // A dot at either end, two of them, and ".lock" are not taken.
    const bool dot = c == '.' && !out.empty() && out.back() != '.';
    out += plain || dot ? c : '-';
  }
  if (out.ends_with('.') || out.ends_with(".lock")) out += '-';
  if (out.starts_with('-')) out.insert(0, 1, 'm');
  return out;
}

std::string tag_for_other_content(const Record& record) {
  std::string content;
  for (const auto& file : record.remote.files)
    content += fmt::format("{} {}\n", file.sha256, file.name);
  return fmt::format("{}-{}", record.tag, sha256_hex(content).substr(0, 8));
}

}  // namespace trainward::upload::hub
