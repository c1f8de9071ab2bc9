// Lines of words and numbers as readings.
#pragma once

#include <optional>
#include <string_view>

#include "supervisor/evidence/foreign/formats/format_reading.hpp"

namespace trainward::foreign {

// All that a line says which has a step or an epoch, and a loss or, with `loss_needed` off, a
// learning rate. A line about held-out data alone is an evaluation. With an epoch but no step,
// `step` is empty.
std::optional<Reading> read_fields(std::string_view line, bool loss_needed = true);

// What a line measures, whatever else it is about; `kind` is Kind::measures.
Reading read_measures(std::string_view line);

}  // namespace trainward::foreign
