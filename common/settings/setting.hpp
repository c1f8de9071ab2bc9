// What is known of one setting of the worker: worker_settings.hpp has them all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/range.hpp"

namespace trainward::settings {

struct WorkerSettings;

// Where the value goes. What WorkerSettings holds there to begin with is the default.
template <typename T>
using Member = T WorkerSettings::*;

struct Whole {
  std::variant<Member<std::int64_t>, Member<std::uint64_t>, Member<int>> at;
  IntegerRange range;
};
struct Real {
  Member<double> at;
  NumberRange range;
};
struct Flag {
  Member<bool> at;
};
struct Word {
  Member<std::string> at;
  std::span<const std::string_view> words;
};
// In bytes; YAML has it with a unit.
struct Size {
  Member<std::uint64_t> at;
  IntegerRange range;
};
struct Text {
  Member<std::string> at;
};
// A file that must exist, or the one word that stands for something built in.
struct Path {
  Member<std::string> at;
  std::string_view word;
  std::string_view file;  // what the file is, for messages
};
// At least one, and each must exist.
struct Paths {
  Member<std::vector<std::string>> at;
  std::string_view fallback;  // of YAML; the worker's own JSON must name them
};
// [1, N], as meshes of devices are given elsewhere: model parts, data parts.
struct Mesh {
  Member<std::int64_t> at;
  std::int64_t most;
};
// Names and values for the device's plugin, which alone knows them.
struct Options {
  std::size_t most;
};

using Type = std::variant<Whole, Real, Flag, Word, Size, Text, Path, Paths, Mesh, Options>;

// How a setting is part of the run's digest. A digest that was written must stay what it is, so
// whatever is added to one is added where it is set, and not before.
enum class Digest {
  no,
  always,
  when_set,  // where it differs from its default
  composed,  // together with others, where the digest is made
};

struct Setting {
  std::string_view section;
  std::string_view key;
  Type type;
  std::string_view unit;
  Digest digest;
  std::string_view label;  // in the digest's text; of `always` and `when_set`
  std::string_view about;  // the sentence in docs/config.md, in its Markdown
};

std::int64_t get(const WorkerSettings& values, const Whole& whole);
void set(WorkerSettings& values, const Whole& whole, std::int64_t value);

// The lines of the digest for whatever is `always` or `when_set`, the former first.
std::string digest_lines(const WorkerSettings& values);

}  // namespace trainward::settings
