#include "supervisor/courier/upload/hub/branch.hpp"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "common/os/file.hpp"
#include "supervisor/courier/upload/hub/hub_requests.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::size_t most_records = 100;  // of a branch; we leave two at most

}  // namespace

Result<Contents> read_contents(Api& api, const std::string& revision) {
  auto entries = api.tree(revision);
  if (!entries) return propagate(entries);
  Contents out;
  out.revision = revision;
  std::vector<std::string> names;
  for (Entry& entry : *entries) {
    if (auto name = recorded_name(entry.path); !name.empty()) names.push_back(std::move(name));
    std::string path = entry.path;
    out.files.insert_or_assign(std::move(path), std::move(entry));
  }
  if (names.size() > most_records) {
    return fail(ErrorKind::permanent,
                fmt::format("holds more than {} records of checkpoints", most_records), api.shown(),
                "give the checkpoints a repository or a revision (a branch) of their own");
  }
  for (const std::string& name : names) {
    auto record = read_record(api, revision, name);
    if (!record) return propagate(record);
    if (*record) {
      out.records.push_back(std::move(**record));
    } else {
      out.unreadable = name;
    }
  }
  return out;
}

Result<std::optional<Record>> read_record(Api& api, const std::string& revision,
                                          const std::string& name) {
  auto text = api.text(revision, record_path(name), longest_record);
  if (!text) return propagate(text);
  if (!*text) return std::optional<Record>();
  auto record = parse_record(**text, fmt::format("{}/{}", api.shown(), record_path(name)));
  if (record && record->remote.name == name) return std::optional<Record>(std::move(*record));
  if (!record && record.error().kind == ErrorKind::permanent) return propagate(record);
  return std::optional<Record>();
}

Result<bool> holds(const Entry& entry, const File& file) {
  if (entry.size != file.size) return false;
  if (!entry.sha256.empty()) return entry.sha256 == file.sha256;
  if (file.size > largest_regular) return false;
  auto bytes = bytes_of(file);
  if (!bytes) return propagate(bytes);
  return entry.blob == git_blob(*bytes);
}

Result<std::string> bytes_of(const File& file) {
  std::string bytes(static_cast<std::size_t>(file.size), '\0');
  auto size =
      read_at(file.descriptor.get(), std::as_writable_bytes(std::span(bytes)), 0, file.name);
  if (!size) return propagate(size);
  if (*size == bytes.size()) return bytes;
  return fail(ErrorKind::corrupt, "became shorter while it was read", file.name,
              "a checkpoint is not written to once it is there");
}

}  // namespace trainward::upload::hub
