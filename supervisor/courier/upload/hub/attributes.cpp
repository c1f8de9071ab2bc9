#include "supervisor/courier/upload/hub/attributes.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "common/base/text.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::string_view filter = " filter=lfs diff=lfs merge=lfs -text\n";

constexpr std::array tracked_endings = {
    ".7z",      ".arrow",   ".bin",    ".bz2",     ".ckpt", ".ftz", ".gz",   ".h5",
    ".joblib",  ".mlmodel", ".model",  ".msgpack", ".npy",  ".npz", ".onnx", ".ot",
    ".parquet", ".pb",      ".pickle", ".pkl",     ".pt",   ".pth", ".rar",  ".safetensors",
    ".tar",     ".tflite",  ".tgz",    ".wasm",    ".xz",   ".zip", ".zst",  "tfevents"};

std::string_view last_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_plain_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

// "*.distcp" for "…/__0_0.distcp", the name itself where it has no ending; empty: cannot be said.
std::string pattern_for(std::string_view path) {
  const std::string_view name = last_part(path);
  const auto dot = name.rfind('.');
  const bool has_ending = dot != std::string_view::npos && dot > 0 && dot + 1 < name.size();
  const std::string pattern(has_ending ? name.substr(dot) : name);
  if (!is_plain_name(pattern) || pattern.starts_with('-')) return {};
  return has_ending ? "*" + pattern : pattern;
}

// The patterns of lines that name the filter.
std::set<std::string, std::less<>> patterns_in(std::string_view attributes) {
  std::set<std::string, std::less<>> out;
  while (!attributes.empty()) {
    const std::string_view line = trim(take_line(attributes));
    const auto end = line.find_first_of(" \t");
    if (end == std::string_view::npos || line.find("filter=lfs") == std::string_view::npos)
      continue;
    out.emplace(line.substr(0, end));
  }
  return out;
}

}  // namespace

bool is_tracked_from_the_start(std::string_view path) {
  const std::string_view name = last_part(path);
  return std::any_of(tracked_endings.begin(), tracked_endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

std::string missing_lines(std::string_view attributes, const std::vector<std::string>& objects,
                          const std::vector<std::string>& regular) {
  auto known = patterns_in(attributes);
  for (const std::string& path : regular) known.insert(pattern_for(path));
  std::set<std::string> missing;
  for (const std::string& path : objects) {
    if (is_tracked_from_the_start(path)) continue;
    const std::string pattern = pattern_for(path);
    if (!pattern.empty() && known.count(pattern) == 0) missing.insert(pattern);
  }
  std::string lines;
  if (!missing.empty() && !attributes.empty() && !attributes.ends_with('\n')) lines = "\n";
  for (const std::string& pattern : missing) lines.append(pattern).append(filter);
  return lines;
}

}  // namespace trainward::upload::hub
