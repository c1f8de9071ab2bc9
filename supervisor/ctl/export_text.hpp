// Rows as CSV and as JSON, a line each. Pure.
//
// CSV is that of RFC 4180: lines end in CR LF, a text with a comma, quote or line end stands in
// quotes. A text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a
// carriage return) gets a ' in front, which spreadsheets do not show. What is unknown is empty; a
// missing number is NaN, in JSON null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {

void append_csv_text(std::string& out, std::string_view text);
void append_csv_names(std::string& out, const std::vector<std::string>& names);
void append_csv_row(std::string& out, const std::vector<store::Store::Cell>& cells);
void append_json_row(std::string& out, const std::vector<std::string>& names,
                     const std::vector<store::Store::Cell>& cells);

}  // namespace trainward::ctl
