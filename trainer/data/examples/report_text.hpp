// What was loaded, for people and for programs; and examples with what is trained on in them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"
#include "trainer/data/examples/example_set.hpp"
#include "trainer/data/examples/load_report.hpp"

namespace trainward::trainer {

// A table of some lines.
std::string report_text(const LoadReport& report);
json::object report_json(const LoadReport& report);

// A stretch of an example on one side of the line between asked and answered.
struct ShownStretch {
  std::string text;  // safe for a terminal, but for its line ends
  bool trained = false;
};

// `example` decoded; of one with more than `most` tokens the first and last of them. Stretches are
// decoded as parts of the whole text; errors are those of decode().
Result<std::vector<ShownStretch>> show(const Example& example, const Tokenizer& tokenizer,
                                       std::size_t most = 600);

// As one text, with marks around what is trained on: ⟦ and ⟧, or the colours of a terminal.
std::string shown_text(const std::vector<ShownStretch>& stretches, std::string_view before,
                       std::string_view after);

}  // namespace trainward::trainer
