// What is known of one setting of the worker: worker_settings.hpp has them all.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/base/range.hpp"
#include "common/settings/llama_settings.hpp"

namespace trainward::settings {

struct WorkerSettings;

// Where the value goes. What WorkerSettings holds there to begin with is the default.
template <typename T>
class Member {
 public:
  using Value = T;
  // NOLINTBEGIN(google-explicit-constructor): rows of the table say &W::key
  constexpr Member(T WorkerSettings::*at) : at_(at) {}
  constexpr Member(T LlamaSettings::*at) : at_(at) {}
  // NOLINTEND(google-explicit-constructor)

  T& of(WorkerSettings& values) const;
  const T& of(const WorkerSettings& values) const;

 private:
  std::variant<T WorkerSettings::*, T LlamaSettings::*> at_;
};

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
// A word whose place in the list is the value.
struct Choice {
  Member<RopeScaling> at;
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
// At most `most`, and one where that is the default; of these words alone where there are any.
struct Texts {
  Member<std::vector<std::string>> at;
  std::size_t most;
  std::span<const std::string_view> words;
  std::string_view alone;  // the one word that may stand for a whole list
};
// Texts by names of a fixed list.
struct Names {
  Member<std::map<std::string, std::string>> at;
  std::span<const std::string_view> names;
};
// Texts, numbers and booleans by names that a chat template may ask for. Sorted, so that their
// order in a file decides nothing.
struct Variables {
  Member<std::map<std::string, json::value>> at;
  std::size_t most;
};
// A file that must exist, or the one word that stands for something built in.
struct Path {
  Member<std::string> at;
  std::string_view word;
  std::string_view file;  // what the file is, for messages
};
// A file or a folder that must exist, where it is named at all.
struct Place {
  Member<std::string> at;
  bool folder;
  std::string_view what;  // it is, for messages
};
// At least one, and each must exist.
struct Paths {
  Member<std::vector<std::string>> at;
  std::string_view fallback;  // of YAML; the worker's own JSON must name them
  bool needed = true;         // else there may be none
};
// [rows, columns] of devices, `most` in all.
struct Mesh {
  Member<std::int64_t> rows;
  Member<std::int64_t> columns;
  std::int64_t most;
};
// Whether these are the sides of one.
inline bool mesh_fits(const Mesh& mesh, std::int64_t rows, std::int64_t columns) {
  return rows >= 1 && columns >= 1 && rows <= mesh.most && columns <= mesh.most / rows;
}
// Whether so many devices can share a step: each takes a part of every batch, or some of them
// whole.
inline bool can_share(std::int64_t batch, std::int64_t accumulation, std::int64_t devices) {
  return batch % devices == 0 || accumulation % devices == 0;
}
// Names and values for the device's plugin, which alone knows them.
struct Options {
  std::size_t most;
};

using Type = std::variant<Whole, Real, Flag, Word, Choice, Size, Text, Texts, Names, Variables,
                          Path, Place, Paths, Mesh, Options>;

// What is wrong with a variable of that name; empty: nothing. It must be a name in a template, and
// none that says what the conversation and the tokenizer say.
std::string variable_problem(std::string_view name);
// Text, a number, true or false.
bool is_variable(const json::value& value);

// How a setting is part of the run's digest. A digest that was written must stay what it is, so
// whatever is added to one is added where it is set, and not before.
enum class Digest {
  no,
  always,
  when_set,  // where it differs from its default
  composed,  // together with others, where the digest is made
};

// A program restarts when its worker's JSON changes, so a new setting is written only where it is
// set. All of a map that is given is written.
enum class Written { always, where_set };

struct Setting {
  std::string_view section;  // "training_config", or a map in one: "training_config.lora"
  std::string_view key;
  Type type;
  std::string_view unit;
  Digest digest;
  std::string_view label;  // in the digest's text; of `always` and `when_set`
  std::string_view about;  // the sentence in docs/config.md, in its Markdown
  Written written = Written::always;
};

// A map inside a section, or inside another map, by its whole name.
struct Map {
  std::string_view section;
  void (*given)(WorkerSettings& defaults);  // what is so where the map is there at all

  [[nodiscard]] std::string_view key() const { return section.substr(section.rfind('.') + 1); }
  [[nodiscard]] std::string_view parent() const { return section.substr(0, section.rfind('.')); }
};

std::int64_t get(const WorkerSettings& values, const Whole& whole);
void set(WorkerSettings& values, const Whole& whole, std::int64_t value);

// The lines of the digest for whatever is `always` or `when_set`, the former first.
std::string digest_lines(const WorkerSettings& values);

}  // namespace trainward::settings
