#include "checkpoint/format/tensor_files.hpp"

#include <algorithm>

#include "checkpoint/format/names.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::string_view extension = ".safetensors";

bool contains(const std::vector<std::string>& files, const std::string& name) {
  return std::find(files.begin(), files.end(), name) != files.end();
}

// Number of files that look like a shard of this section, whatever they count to.
std::size_t shard_like(std::string_view section, const std::vector<std::string>& files) {
  const std::string prefix = std::string(section) + "-";
  return static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [&](const std::string& name) {
        return name.starts_with(prefix) && name.ends_with(extension);
      }));
}

Result<ShardIndex> read_index(const json::object& object) {
  ShardIndex index;
  auto metadata = get_object(object, "metadata");
  if (!metadata) return propagate(metadata);
  auto total = get_int(**metadata, "total_size");
  if (!total) return propagate(total);
  if (*total < 0) return fail(ErrorKind::corrupt, fmt::format("'total_size' is {}", *total));
  index.total_bytes = static_cast<std::uint64_t>(*total);
  auto map = get_object(object, "weight_map");
  if (!map) return propagate(map);
  for (const auto& entry : **map) {
    const std::string tensor(entry.key().data(), entry.key().size());
    if (!entry.value().is_string()) {
      return fail(ErrorKind::corrupt, fmt::format("tensor '{}' is in no file", tensor));
    }
    const json::string& file = entry.value().get_string();
    const std::string name(file.data(), file.size());
    if (!is_plain_name(name)) {
      return fail(ErrorKind::corrupt,
                  fmt::format("tensor '{}' is in a file outside this folder", tensor));
    }
    index.weight_map.emplace(tensor, name);
  }
  return index;
}

}  // namespace

std::string tensor_file_name(std::string_view section, std::size_t number, std::size_t shards) {
  if (shards == 1) return std::string(section) + std::string(extension);
  return fmt::format("{}-{:05}-of-{:05}{}", section, number, shards, extension);
}

std::string index_file_name(std::string_view section) {
  return fmt::format("{}{}.index.json", section, extension);
}

Result<SectionFiles> section_files(std::string_view section,
                                   const std::vector<std::string>& files) {
  const std::string single = tensor_file_name(section, 1, 1);
  const std::string index = index_file_name(section);
  const std::size_t shards = shard_like(section, files);
  if (contains(files, single)) {
    if (shards == 0 && !contains(files, index)) return SectionFiles{{single}, {}};
    return fail(ErrorKind::corrupt, fmt::format("holds both '{}' and shards of it", single));
  }
  if (!contains(files, index)) {
    return fail(ErrorKind::corrupt, fmt::format("holds neither '{}' nor '{}'", single, index));
  }
  SectionFiles found{{}, index};
  for (std::size_t number = 1; number <= shards; ++number) {
    found.tensors.push_back(tensor_file_name(section, number, shards));
    if (contains(files, found.tensors.back())) continue;
    return fail(ErrorKind::corrupt,
                fmt::format("holds {} shards, but not '{}'", shards, found.tensors.back()));
  }
  if (shards < 2) {
    return fail(ErrorKind::corrupt, fmt::format("holds '{}' but no shards", index));
  }
  return found;
}

std::string encode(const ShardIndex& index) {
  json::object map;
  for (const auto& [tensor, file] : index.weight_map) map[tensor] = file;
  return json::serialize(json::object{{"metadata", {{"total_size", index.total_bytes}}},
                                      {"weight_map", std::move(map)}}) +
         "\n";
}

Result<ShardIndex> parse_shard_index(std::string_view text, std::string_view where) {
  auto value = parse_strict_json(text, where);
  if (!value) return propagate(value);
  if (!value->is_object()) {
    return fail(ErrorKind::corrupt, "is not a JSON object", std::string(where));
  }
  auto index = read_index(value->get_object());
  if (!index) index.error().where = std::string(where);
  return index;
}

Status check_index(const ShardIndex& index, const std::vector<Shard>& shards,
                   std::string_view where) {
  const auto bad = [&](std::string what) {
    return fail(ErrorKind::corrupt, std::move(what), std::string(where));
  };
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;
  for (const Shard& shard : shards) {
    for (const Slot& slot : shard.header->slots) {
      const auto entry = index.weight_map.find(slot.info.name);
      if (entry == index.weight_map.end()) {
        return bad(
            fmt::format("does not list tensor '{}', which is in '{}'", slot.info.name, shard.name));
      }
      if (entry->second != shard.name) {
        return bad(fmt::format("says that tensor '{}' is in '{}', but it is in '{}'",
                               slot.info.name, entry->second, shard.name));
      }
      ++tensors;
      bytes += slot.end - slot.begin;
    }
  }
  if (tensors != index.weight_map.size()) {
    return bad(
        fmt::format("lists {} tensors, the shards hold {}", index.weight_map.size(), tensors));
  }
  if (bytes != index.total_bytes) {
    return bad(
        fmt::format("says that the tensors have {} bytes, they have {}", index.total_bytes, bytes));
  }
  return {};
}

}  // namespace trainward::checkpoint
