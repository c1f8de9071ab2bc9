// The numbers of a line and the words before them, in whatever punctuation: "iter 10: loss 2.31",
// "Epoch [1/5], Step [100/600], Loss: 0.43", "step=10, lr=[1e-05]", "| lm loss: 1.05E+01 |",
// "Loss at step 10: 2.31", {"step": 10, "loss": 2.31}.
//
// Dates, times and versions are no numbers. One pass over the line, no memory of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainward::foreign {

struct Field {
  std::string_view key;     // the words before the number, back to the number before
  std::string_view number;  // "2.31", "12,345", "1e-05", "nan"
  std::string_view of;      // "600" in "100/600"
  std::string_view unit;    // "ms", "%", "tok/s"
  bool glued = false;       // the unit stands right behind the number
};

// Takes the next field off the front of `line`; nothing when no field is left.
std::optional<Field> next_field(std::string_view& line);

// Digits may be grouped: 12,345 and 12_345 are 12345.
std::optional<std::int64_t> whole_number(std::string_view text);
// "nan" and "inf" are read as what they are.
std::optional<double> real_number(std::string_view text);

}  // namespace trainward::foreign
