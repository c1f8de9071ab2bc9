#include "supervisor/courier/upload/target/publication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "common/base/json/json.hpp"
#include "common/base/utf8.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::upload {
namespace {

constexpr std::string_view format_name = "trainward-upload";
constexpr std::int64_t version = 1;
constexpr std::size_t longest_name = 1024;
constexpr std::int64_t largest_file = std::int64_t{1} << 48;  // as many as may be still have a sum
constexpr std::size_t step_digits = 12;

tl::unexpected<Error> no_manifest(std::string_view where, std::string_view what) {
  return fail(ErrorKind::corrupt, fmt::format("is no record of a published checkpoint: {}", what),
              std::string(where));
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<Remote::File> parse_file(const json::value& value, std::string_view where) {
  const auto* object = value.if_object();
  if (object == nullptr) return no_manifest(where, "an entry of 'files' is not a JSON object");
  Remote::File file{string_or(*object, "name", ""), int_or(*object, "size", -1),
                    string_or(*object, "sha256", "")};
  if (!is_safe_name(file.name)) return no_manifest(where, "a file's name leaves its folder");
  if (file.size < 0 || file.size > largest_file) return no_manifest(where, "a file without a size");
  if (!is_sha256(file.sha256)) return no_manifest(where, "a file without a digest");
  return file;
}

}  // namespace

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name || !is_utf8(name)) return false;
  while (true) {
    const auto slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    const bool plain = std::none_of(part.begin(), part.end(), [](unsigned char c) {
      return c < 0x20 || c == 0x7f || c == '\\';
    });
    if (!plain || part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

Remote remote_of(const Package& package) {
  Remote out{package.name, package.step,  {}, package.origin, package.saved_ms,
             package.form, package.run.id};
  for (const File& file : package.files) {
    out.files.push_back({file.name, file.size, known_digest(file)});
  }
  return out;
}

std::string manifest_text(const std::string& program, const Remote& remote) {
  json::array files;
  for (const Remote::File& file : remote.files) {
    files.push_back(
        json::object{{"name", file.name}, {"size", file.size}, {"sha256", file.sha256}});
  }
  json::object out{{"format", format_name},       {"version", version},
                   {"program", program},          {"name", remote.name},
                   {"step", remote.step},         {"origin", remote.origin},
                   {"saved_ms", remote.saved_ms}, {"files", std::move(files)}};
  if (!remote.form.empty()) out["form"] = remote.form;
  if (!remote.run.empty()) out["run"] = remote.run;
  return json::serialize(out) + "\n";
}

Result<Remote> parse_manifest(std::string_view text, std::string_view where) {
  auto value = parse_json(text, where);
  if (!value) return propagate(value);
  const auto* object = value->if_object();
  if (object == nullptr || string_or(*object, "format", "") != format_name) {
    return no_manifest(where, "it says nothing of the kind");
  }
  if (const auto found = int_or(*object, "version", 0); found != version) {
    return fail(ErrorKind::permanent, fmt::format("is of version {}, which is not known", found),
                std::string(where), "a newer trainward wrote it: use that one");
  }
  Remote out;
  out.name = string_or(*object, "name", "");
  out.step = int_or(*object, "step", -1);
  out.origin = string_or(*object, "origin", "");
  out.saved_ms = int_or(*object, "saved_ms", 0);
  out.form = string_or(*object, "form", "");
  out.run = string_or(*object, "run", "");
  if (!is_safe_name(out.name) || out.name.find('/') != std::string::npos) {
    return no_manifest(where, "its name is not valid");
  }
  if (out.step < 0) return no_manifest(where, "it has no step");
  auto files = get_array(*object, "files");
  if (!files) return propagate(files);
  if ((*files)->empty() || (*files)->size() > most_files) {
    return no_manifest(where, "it has no files, or too many");
  }
  std::set<std::string> names;
  for (const json::value& item : **files) {
    auto file = parse_file(item, where);
    if (!file) return propagate(file);
    if (!names.insert(file->name).second) return no_manifest(where, "a file stands there twice");
    out.files.push_back(std::move(*file));
  }
  return out;
}

Status check_readable(std::string_view text, const Remote& remote) {
  const std::string where = valid_utf8(remote.name);
  for (const Remote::File& file : remote.files) {
    if (is_safe_name(file.name)) continue;
    return fail(ErrorKind::permanent,
                "could not be restored from elsewhere: its name is too long, "
                "not UTF-8, or has a backslash or a control character in it",
                where + "/" + valid_utf8(file.name), "rename the file");
  }
  if (text.size() > longest_manifest) {
    return fail(ErrorKind::permanent,
                fmt::format("could not be restored from elsewhere: the names of its {} files are "
                            "too long for one record",
                            remote.files.size()),
                where, "put fewer files into a checkpoint, or give them shorter names");
  }
  auto read = parse_manifest(text, where);
  if (read && same_content(*read, remote) && read->origin == remote.origin) return {};
  return fail(ErrorKind::permanent,
              fmt::format("could not be restored from elsewhere: {}",
                          read ? "its record would say something else" : read.error().what),
              where, "rename the checkpoint, or the folders that it lies in");
}

Status check_readable(const Package& package) {
  Remote remote = remote_of(package);
  for (Remote::File& file : remote.files) file.sha256.assign(64, '0');
  return check_readable(manifest_text(package.program, remote), remote);
}

bool is_newer(const Remote& a, const Remote& b) {
  if (a.saved_ms != b.saved_ms && a.saved_ms > 0 && b.saved_ms > 0) return a.saved_ms > b.saved_ms;
  return a.step > b.step;
}

bool same_content(const Remote& a, const Remote& b) {
  const auto sorted = [](const Remote& remote) {
    std::vector<std::string> files;
    for (const Remote::File& file : remote.files) {
      files.push_back(fmt::format("{} {} {}", file.sha256, file.size, file.name));
    }
    std::sort(files.begin(), files.end());
    return files;
  };
  return a.name == b.name && a.step == b.step && sorted(a) == sorted(b);
}

std::string published_folder(const std::string& program) { return program + "/published/"; }

std::string manifest_key(const std::string& program, std::int64_t step, const std::string& name) {
  return fmt::format("{}{:0{}}.{}.json", published_folder(program), step, step_digits, name);
}

std::string latest_key(const std::string& program) { return program + "/latest.json"; }

std::string file_key(const std::string& program, const std::string& name, const std::string& file) {
  return fmt::format("{}/{}/{}", program, name, file);
}

std::int64_t step_of_key(std::string_view key) {
  if (const auto slash = key.rfind('/'); slash != std::string_view::npos) {
    key.remove_prefix(slash + 1);
  }
  std::int64_t step = -1;
  const auto dot = key.find('.');
  if (dot == std::string_view::npos || dot < step_digits || !key.ends_with(".json")) return -1;
  const auto [end, error] = std::from_chars(key.data(), key.data() + dot, step);
  return error == std::errc() && end == key.data() + dot ? step : -1;
}

}  // namespace trainward::upload
