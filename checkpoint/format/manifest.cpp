#include "checkpoint/format/manifest.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/reached.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/format/tensor_files.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::string_view format_name = "trainward-checkpoint";
constexpr std::int64_t format_version = 1;
constexpr std::size_t max_files = 4096;
constexpr std::size_t hash_digits = 32;
constexpr std::string_view seal_begin = "  \"checksum\": \"";
constexpr std::string_view seal_end = "\"\n}\n";
constexpr std::string_view hint = "use an older checkpoint, or restore this one from another copy";

tl::unexpected<Error> bad_manifest(std::string_view where, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), std::string(where), std::string(hint));
}

std::string quote(std::string_view text) {
  return json::serialize(json::string(text.data(), text.size()));
}

bool is_hash(std::string_view text) {
  return text.size() == hash_digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Status check_seal(std::string_view text, std::string_view where) {
  const std::size_t seal = seal_begin.size() + hash_digits + seal_end.size();
  if (text.size() < seal || !text.ends_with(seal_end)) {
    return bad_manifest(where,
                        fmt::format("is cut short or damaged at its end (byte {})", text.size()));
  }
  const std::string_view body = text.substr(0, text.size() - seal);
  const std::string_view line = text.substr(body.size());
  if (!line.starts_with(seal_begin)) {
    return bad_manifest(where, fmt::format("has no checksum line at byte {}", body.size()));
  }
  const std::string_view stored = line.substr(seal_begin.size(), hash_digits);
  const std::string computed = hash_hex(body);
  if (stored != computed) {
    return bad_manifest(
        where, fmt::format("does not match its own checksum (bytes 0 to {} give {})", body.size(),
                           computed));
  }
  return {};
}

Result<FileEntry> read_entry(const json::value& value) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "an entry of 'files' is not an object");
  const json::object& object = value.get_object();
  auto name = get_string(object, "name");
  if (!name) return propagate(name);
  auto size = get_int(object, "size");
  if (!size) return propagate(size);
  auto blocks = get_array(object, "blocks");
  if (!blocks) return propagate(blocks);
  if (!is_plain_name(*name) || *name == name::manifest) {
    return fail(ErrorKind::corrupt, "a file name is not a plain name in this folder");
  }
  FileEntry entry{*name, static_cast<std::uint64_t>(*size), {}};
  if (*size < 0 || (*blocks)->size() != entry.size / block_bytes + (entry.size % block_bytes > 0)) {
    return fail(ErrorKind::corrupt, fmt::format("'{}': {} checksums do not fit a size of {} bytes",
                                                entry.name, (*blocks)->size(), *size));
  }
  for (const json::value& block : **blocks) {
    if (!block.is_string() || !is_hash({block.get_string().data(), block.get_string().size()})) {
      return fail(ErrorKind::corrupt,
                  fmt::format("'{}': a checksum is not 32 hexadecimal digits", entry.name));
    }
    entry.blocks.emplace_back(block.get_string().data(), block.get_string().size());
  }
  return entry;
}

Result<Manifest> read_fields(const json::object& object) {
  Manifest manifest;
  auto reached = read_reached(object);
  if (!reached) return propagate(reached);
  auto created = get_int(object, "created_wall_ms");
  if (!created) return propagate(created);
  auto files = get_array(object, "files");
  if (!files) return propagate(files);
  manifest.step = reached->step;
  manifest.tokens = reached->tokens;
  manifest.loss = reached->loss;
  manifest.created_wall_ms = *created;
  if ((*files)->size() > max_files) {
    return fail(ErrorKind::corrupt, fmt::format("lists more than {} files", max_files));
  }
  std::set<std::string> names;
  std::uint64_t total = 0;
  for (const json::value& value : **files) {
    auto entry = read_entry(value);
    if (!entry) return propagate(entry);
    if (!names.insert(entry->name).second) {
      return fail(ErrorKind::corrupt, fmt::format("lists '{}' twice", entry->name));
    }
    total += entry->size;
    if (total > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return fail(ErrorKind::corrupt, "lists more than 2^61 bytes");
    }
    manifest.files.push_back(std::move(*entry));
  }
  if (manifest.find(name::state) == nullptr) {
    return fail(ErrorKind::corrupt, fmt::format("does not list '{}'", name::state));
  }
  for (const std::string_view section : {name::model, name::optimizer}) {
    if (auto found = section_files(section, manifest.file_names()); !found) return propagate(found);
  }
  return manifest;
}

}  // namespace

const FileEntry* Manifest::find(std::string_view name) const {
  const auto entry = std::find_if(files.begin(), files.end(),
                                  [&](const FileEntry& file) { return file.name == name; });
  return entry == files.end() ? nullptr : &*entry;
}

std::vector<std::string> Manifest::file_names() const {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const FileEntry& file : files) names.push_back(file.name);
  return names;
}

std::uint64_t Manifest::file_bytes() const {
  std::uint64_t bytes = 0;
  for (const FileEntry& file : files) bytes += file.size;
  return bytes;
}

std::string encode(const Manifest& manifest) {
  std::string text = fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"step\": {},\n  \"tokens\": {},\n"
      "  \"loss\": {},\n  \"created_wall_ms\": {},\n  \"block_bytes\": {},\n  \"files\": [",
      format_name, format_version, manifest.step, manifest.tokens,
      json::serialize(json_number(manifest.loss)), manifest.created_wall_ms, block_bytes);
  std::string_view separator = "\n";
  for (const FileEntry& file : manifest.files) {
    text += fmt::format("{}    {{\"name\": {}, \"size\": {}, \"blocks\": [", separator,
                        quote(file.name), file.size);
    for (std::size_t i = 0; i < file.blocks.size(); ++i) {
      text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", file.blocks[i]);
    }
    text += "]}";
    separator = ",\n";
  }
  text += "\n  ],\n";
  const std::string checksum = hash_hex(text);
  text += seal_begin;
  text += checksum;
  text += seal_end;
  return text;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view where) {
  if (auto ok = check_seal(text, where); !ok) return propagate(ok);
  auto value = parse_strict_json(text, where);
  if (!value) return propagate(value);
  if (!value->is_object()) return bad_manifest(where, "is not a JSON object");
  const json::object& object = value->get_object();
  if (string_or(object, "format", "") != format_name) {
    return bad_manifest(where, fmt::format("key 'format' is not '{}'", format_name));
  }
  if (int_or(object, "version", -1) != format_version ||
      int_or(object, "block_bytes", -1) != static_cast<std::int64_t>(block_bytes)) {
    return fail(ErrorKind::permanent,
                fmt::format("has format version {}, this program reads version {}",
                            int_or(object, "version", -1), format_version),
                std::string(where), "read it with the version of Trainward that wrote it");
  }
  auto manifest = read_fields(object);
  if (!manifest) return bad_manifest(where, manifest.error().what);
  return manifest;
}

}  // namespace trainward::checkpoint
