#include "supervisor/evidence/foreign/checkpoints/verify.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include "common/os/file.hpp"
#include "common/os/json_file.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_content.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"
#include "supervisor/evidence/foreign/checkpoints/parts.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_index_bytes = 64 * 1024 * 1024;
constexpr std::size_t most_shards = 10'000;

// Files that hold a model's or an optimizer's state: those of a folder must not be empty or cut
// off.
constexpr std::array<std::string_view, 9> state_endings{
    ".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".distcp", ".npz", ".pkl", ".msgpack"};

bool holds_state(std::string_view name) {
  return std::any_of(state_endings.begin(), state_endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

bool is_index(std::string_view name) { return name.ends_with(".index.json"); }

tl::unexpected<Error> damaged(std::string what, const fs::path& path) {
  return fail(ErrorKind::corrupt, std::move(what), path.string());
}

Status check_file(const fs::path& path) {
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "look at", path.string());
  return check_content(fd->get(), static_cast<std::uint64_t>(info.st_size), path);
}

// The files that an index names.
class IndexListener : public JsonListener {
 public:
  void value(JsonWay at, const JsonScalar& value) override {
    if (at.empty() || is_map(at)) readable_ = false;
    if (at.size() != 2 || !is_map(at.first(1))) return;
    const auto* name = std::get_if<std::string_view>(&value);
    if (name == nullptr) {
      readable_ = false;
    } else if (!shards_.contains(*name)) {
      if (shards_.size() < most_shards)
        shards_.emplace(*name);
      else
        readable_ = false;
    }
  }
  void begin(JsonWay at, bool list) override {
    if (at.empty() && list) readable_ = false;
    if (is_map(at)) list ? readable_ = false : found_ = true;
    if (at.size() == 2 && is_map(at.first(1))) readable_ = false;
  }
  [[nodiscard]] bool readable() const { return readable_ && found_; }
  [[nodiscard]] const std::set<std::string, std::less<>>& shards() const { return shards_; }

 private:
  static bool is_map(JsonWay at) { return at.size() == 1 && at[0].key == "weight_map"; }
  std::set<std::string, std::less<>> shards_;
  bool found_ = false;
  bool readable_ = true;
};

// Every file of sharded weights that the index names lies beside it and is whole.
Status check_index(const fs::path& index) {
  IndexListener told;
  if (!tell_json_file(index, most_index_bytes, told) || !told.readable()) {
    return damaged("the index of its weights cannot be read", index);
  }
  for (const std::string& shard : told.shards()) {
    if (shard.empty() || fs::path(shard).filename() != shard) {
      return damaged(fmt::format("the index names '{}', which is no file beside it", shard), index);
    }
    std::error_code error;
    if (!fs::exists(index.parent_path() / shard, error)) {
      return damaged(fmt::format("lacks '{}', which its index names", shard), index);
    }
    if (auto ok = check_file(index.parent_path() / shard); !ok) return ok;
  }
  return {};
}

// ---- folders ----

std::set<std::string> names_of(const Parts& parts) {
  std::set<std::string> names;
  for (const Part& part : parts.files) {
    if (holds_state(part.name) || part.name.ends_with(".json")) names.insert(series_of(part.name));
  }
  return names;
}

// The newest checkpoint before this one, of those beside it whose names differ in numbers alone.
std::optional<fs::path> one_before(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto step = step_in_name(name);
  if (!step) return std::nullopt;
  const std::string series = series_of(name);
  std::optional<std::pair<std::int64_t, fs::path>> best;
  each_entry(path.parent_path(), "*", [&](const std::string& other) {
    if (series_of(other) != series) return;
    const auto of = step_in_name(other);
    if (of && *of < *step && (!best || *of > best->first)) {
      best.emplace(*of, path.parent_path() / other);
    }
  });
  if (!best) return std::nullopt;
  return best->second;
}

// What is not there yet; empty: nothing that is known of.
std::string missing_in(const Parts& parts, const fs::path& path) {
  std::set<std::string> names;
  for (const Part& part : parts.files) names.insert(part.name);
  for (const std::string& name : names) {
    if (says_temporary(fs::path(name).filename().string())) {
      return fmt::format("holds '{}', which is not finished", name);
    }
    const fs::path folder = fs::path(name).parent_path();
    if (name.ends_with(".distcp") && !names.contains((folder / ".metadata").string())) {
      return fmt::format("lacks '{}', which is written last", (folder / ".metadata").string());
    }
  }
  if (names.contains("training_args.bin") && !names.contains("trainer_state.json")) {
    return "lacks 'trainer_state.json', which is written last";
  }
  const auto before = one_before(path);
  const auto earlier = before ? parts_of(*before) : Result<Parts>(Parts{});
  if (!earlier) return {};
  const auto here = names_of(parts);
  for (const Part& part : earlier->files) {
    const bool counts = holds_state(part.name) || part.name.ends_with(".json");
    if (counts && !here.contains(series_of(part.name))) {
      return fmt::format("has nothing like '{}' of {}", part.name, before->filename().string());
    }
  }
  return {};
}

Status check_parts(const Parts& parts, const fs::path& path, const Folders& folders) {
  bool any = false;
  for (const Part& part : parts.files) {
    const fs::path file = path / part.name;
    if (part.link && !lies_inside(file, folders)) {
      return damaged(
          fmt::format("a link in it, '{}', leads out of the program's folders", part.name), path);
    }
    any = any || part.bytes > 0;
    if (is_index(part.name)) {
      if (auto ok = check_index(file); !ok) return ok;
    } else if (holds_state(part.name)) {
      if (auto ok = check_file(file); !ok) return ok;
    }
  }
  return any ? Status{} : damaged("holds no file with anything in it", path);
}

Result<Candidate> verify_folder(const fs::path& path, const Folders& folders, Writer writer) {
  auto parts = parts_of(path);
  if (!parts) return propagate(parts);
  if (const std::string missing = missing_in(*parts, path); !missing.empty()) {
    return fail(writer == Writer::alive ? ErrorKind::transient : ErrorKind::corrupt, missing,
                path.string());
  }
  if (auto ok = check_parts(*parts, path, folders); !ok) return propagate(ok);
  const auto after = parts_of(path);
  if (!after || after->bytes != parts->bytes || after->modified_ns != parts->modified_ns) {
    return fail(ErrorKind::transient, "is still being written", path.string());
  }
  return Candidate{path,
                   step_in_name(path.filename().string()),
                   parts->bytes,
                   parts->modified_ns,
                   0,
                   std::move(parts->folders)};
}

// ---- files ----

Result<Candidate> verify_file(const fs::path& path) {
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) return propagate(fd);
  struct stat before {};
  if (::fstat(fd->get(), &before) != 0) return fail_errno(errno, "look at", path.string());
  const auto size = static_cast<std::uint64_t>(before.st_size);
  if (auto ok = check_content(fd->get(), size, path); !ok) return propagate(ok);
  if (is_index(path.filename().string())) {
    if (auto ok = check_index(path); !ok) return propagate(ok);
  }
  struct stat after {};
  if (::fstat(fd->get(), &after) != 0 || after.st_size != before.st_size ||
      modified_ns(after) != modified_ns(before)) {
    return fail(ErrorKind::transient, "is still being written", path.string());
  }
  return Candidate{
      path, step_in_name(path.filename().string()), size, modified_ns(before), before.st_ino, {}};
}

}  // namespace

Result<Candidate> verify_foreign(const fs::path& path, const Folders& folders, Writer writer) {
  if (!lies_inside(path, folders)) {
    return fail(ErrorKind::permanent, "lies outside the program's folders", path.string());
  }
  std::error_code error;
  return fs::is_directory(path, error) ? verify_folder(path, folders, writer) : verify_file(path);
}

Result<Selection> select_foreign(std::vector<Candidate> candidates, const Folders& folders,
                                 std::int64_t below_step) {
  Selection out;
  for (Candidate& candidate : candidates) {
    if (below_step > 0 && candidate.step.value_or(below_step) >= below_step) continue;
    auto verified = verify_foreign(candidate.path, folders);
    if (verified) {
      verified->step = candidate.step;
      out.chosen = std::move(*verified);
      return out;
    }
    if (verified.error().kind == ErrorKind::transient) return propagate(verified);
    out.skipped.push_back({std::move(candidate), verified.error().what});
  }
  return out;
}

}  // namespace trainward::foreign
