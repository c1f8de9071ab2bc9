// What a run has learned, as `report` shows it: its evaluations, and what its model says to
// prompts.
//
// In: the report's document (docs/database.md), whatever is in it. Out: a section for people, with
// an empty line before it; empty where there is nothing to show. Texts of a model are cleaned, and
// on a terminal wrapped and cut; nowhere else is anything cut.
#pragma once

#include <string>

#include "common/base/json/json.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {

// Why the checkpoint of the best evaluation is pinned, which the disk knows and the record does
// not: best_evaluation.pin_reason.
void add_pin_reason(json::object& report);

// " (perplexity 12.18)"; empty when it is not known.
std::string perplexity_text(const json::object& row, std::string_view key);

std::string evaluations_text(const json::object& report, const Style& style);
std::string samples_text(const json::object& report, const Style& style);

}  // namespace trainward::ctl
