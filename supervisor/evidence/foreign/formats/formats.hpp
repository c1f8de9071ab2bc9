// The outputs of training programs that are known: a row each.
//
// A row says by which words a line shows itself and how it is read. The first row that reads a line
// has it, so what is particular stands before what is general. A new format is a row and, when its
// lines are not words and numbers, a reader.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/evidence/foreign/formats/format_reading.hpp"

namespace trainward::foreign {

struct Format {
  std::string_view name;                  // as in `preset: NAME`
  std::string_view title;                 // for people: "the output of Keras"
  std::array<std::string_view, 3> marks;  // every line of it has all of these
  std::optional<Reading> (*read)(std::string_view line);
  std::size_t proof = 2;       // steps in a row before it is believed
  std::string_view rule = {};  // RE2 that says the same of its steps; empty: none can
};

std::span<const Format> formats();
// A name may be that of a program whose output is another's: axolotl prints what huggingface does.
const Format* find_format(std::string_view name);
// Every word that `preset` takes for a format, for messages.
std::vector<std::string_view> preset_names();

struct Read {
  const Format* format = nullptr;
  Reading reading;
};
// One line without its end; colours and what a terminal obeys are passed over, and so is what
// stands beyond 4 KiB. `only`: no other format is tried.
std::optional<Read> read_line(std::string_view line, const Format* only = nullptr);

}  // namespace trainward::foreign
