#include "checkpoint/tools/diff.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "checkpoint/format/element_difference.hpp"
#include "checkpoint/format/floats.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/progress.hpp"
#include "checkpoint/tools/file_sources.hpp"
#include "checkpoint/verified.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

using Kind = TensorDifference::Kind;
using Tensors = std::map<std::string, TensorSource>;

Tensors tensors_of(const Verified& checkpoint, const std::vector<Verified::TensorFile>& files,
                   const fs::path& folder) {
  std::vector<TensorSource> sources;
  append_sources(checkpoint, files, folder, sources);
  Tensors tensors;
  for (TensorSource& source : sources) {
    std::string name = source.info.name;
    tensors.emplace(std::move(name), std::move(source));
  }
  return tensors;
}

struct Side {
  fs::path folder;
  Verified checkpoint;
  std::map<std::string_view, Tensors> sections;
};

Result<Side> open_side(const fs::path& folder, const IoOptions& io) {
  auto checkpoint = open_verified(folder, Read::check, io);
  if (!checkpoint) return propagate(checkpoint);
  Side side{folder, std::move(*checkpoint), {}};
  side.sections[name::model] = tensors_of(side.checkpoint, side.checkpoint.model, folder);
  side.sections[name::optimizer] = tensors_of(side.checkpoint, side.checkpoint.optimizer, folder);
  return side;
}

// Bytes that verifying takes; what cannot be opened fails later, with its reason.
std::uint64_t bytes_of(const fs::path& folder) {
  const auto checkpoint = open_verified(folder, Read::headers, {});
  return checkpoint ? checkpoint->manifest.file_bytes() : 0;
}

std::uint64_t size_of(const TensorInfo& info) { return byte_count(info).value_or(0); }

bool comparable(const TensorInfo& a, const TensorInfo& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

class Comparison {
 public:
  Comparison(Diff& result, const Progress& progress) : result_(result), progress_(progress) {}

  Status compare(std::string_view section, const Tensors& first, const Tensors& second) {
    std::set<std::string> names;
    for (const auto& [name, source] : first) names.insert(name);
    for (const auto& [name, source] : second) names.insert(name);
    for (const std::string& name : names) {
      const auto a = first.find(name);
      const auto b = second.find(name);
      TensorDifference difference{Kind::values, std::string(section), name, {}, {}, 0, 0, {}, {}};
      if (a != first.end()) difference.first = a->second.info;
      if (b != second.end()) difference.second = b->second.info;
      if (a == first.end()) {
        difference.kind = Kind::only_in_second;
      } else if (b == second.end()) {
        difference.kind = Kind::only_in_first;
      } else if (!comparable(a->second.info, b->second.info)) {
        difference.kind = Kind::type_or_shape;
      } else {
        if (auto ok = compare_values(a->second, b->second, difference); !ok) return ok;
        if (difference.differing == 0) {
          ++result_.equal_tensors;
          continue;
        }
      }
      result_.tensors.push_back(std::move(difference));
    }
    return {};
  }

 private:
  Status compare_values(const TensorSource& first, const TensorSource& second,
                        TensorDifference& difference) {
    const DType type = first.info.dtype;
    const std::uint64_t size = size_of(first.info);
    ElementDifference elements(type);
    for (std::uint64_t at = 0; at < size; at += comparable_portion) {
      const auto portion = std::min<std::uint64_t>(comparable_portion, size - at);
      first_.resize(portion);
      second_.resize(portion);
      if (auto ok = first.read(at, first_); !ok) return ok;
      if (auto ok = second.read(at, second_); !ok) return ok;
      elements.feed(first_, second_);
      done_ += portion;
      if (!progress_) continue;
      if (auto ok = progress_(done_, done_); !ok) return ok;
    }
    difference.elements = size * 8 / bits_of(type);
    difference.differing = elements.differing();
    if (is_float(type)) {
      difference.largest_absolute = elements.largest_absolute();
      difference.largest_relative = elements.largest_relative();
    }
    return {};
  }

  Diff& result_;
  const Progress& progress_;
  std::uint64_t done_ = 0;
  std::vector<std::byte> first_;
  std::vector<std::byte> second_;
};

std::uint64_t common_bytes(const Side& first, const Side& second) {
  std::uint64_t bytes = 0;
  for (const auto& [section, tensors] : first.sections) {
    const Tensors& others = second.sections.at(section);
    for (const auto& [name, source] : tensors) {
      const auto other = others.find(name);
      if (other != others.end() && comparable(source.info, other->second.info)) {
        bytes += size_of(source.info);
      }
    }
  }
  return bytes;
}

std::map<std::string, json::value> keys_of(const TrainingState& state) {
  std::map<std::string, json::value> keys;
  keys["step"] = state.step;
  keys["tokens"] = state.tokens;
  keys["loss"] = json_number(state.loss);
  keys["run"] = state.run;
  keys["config_digest"] = state.config_digest;
  keys["parent"] = state.parent;
  for (const auto& entry : state.extra) {
    keys.emplace("extra." + std::string(entry.key().data(), entry.key().size()), entry.value());
  }
  return keys;
}

std::vector<StateDifference> state_differences(const TrainingState& first,
                                               const TrainingState& second) {
  auto a = keys_of(first);
  auto b = keys_of(second);
  std::set<std::string> keys;
  for (const auto& [key, value] : a) keys.insert(key);
  for (const auto& [key, value] : b) keys.insert(key);
  std::vector<StateDifference> differences;
  for (const std::string& key : keys) {
    const auto in_a = a.find(key);
    const auto in_b = b.find(key);
    if (in_a != a.end() && in_b != b.end() && in_a->second == in_b->second) continue;
    differences.push_back({key, in_a == a.end() ? json::value() : in_a->second,
                           in_b == b.end() ? json::value() : in_b->second});
  }
  return differences;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::only_in_first:
      return "only_in_first";
    case Kind::only_in_second:
      return "only_in_second";
    case Kind::type_or_shape:
      return "type_or_shape";
    case Kind::values:
      return "values";
  }
  return "";
}

Result<Diff> diff(const fs::path& first, const fs::path& second, const IoOptions& io) {
  const std::uint64_t first_bytes = bytes_of(first);
  const std::uint64_t second_bytes = bytes_of(second);
  const std::uint64_t verified = first_bytes + second_bytes;
  // Comparing reads about the smaller of the two once more; its exact size is known later.
  std::uint64_t total = verified + std::min(first_bytes, second_bytes);
  auto a = open_side(first, {part_of(io.progress, 0, total), io.make_queue});
  if (!a) return propagate(a);
  auto b = open_side(second, {part_of(io.progress, first_bytes, total), io.make_queue});
  if (!b) return propagate(b);
  total = verified + common_bytes(*a, *b);
  const Progress progress = part_of(io.progress, verified, total);
  Diff result;
  Comparison comparison(result, progress);
  for (const std::string_view section : {name::model, name::optimizer}) {
    auto ok = comparison.compare(section, a->sections.at(section), b->sections.at(section));
    if (!ok) return propagate(ok);
  }
  result.state = state_differences(a->checkpoint.state, b->checkpoint.state);
  return result;
}

}  // namespace trainward::checkpoint
