// The lines of `status`: supervisorctl's, one per program, without a title; below it what keeps the
// daemon from looking after the program as it should.
#pragma once

#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl {

struct StatusLine {
  std::string host;  // empty, of all lines: there is no such column
  std::string name;
  std::string state;
  std::string detail;
  std::string trouble;  // empty: none
};

// `row`: of GET /v1/programs.
StatusLine status_line(const json::object& row, const Context& context);

// What of the messages and uploads fails or moves, a line each: `document` as of GET
// /v1/deliveries.
std::string deliveries_text(const json::object& document, const Context& context);

// Safe to show, whatever the fields are.
std::string text_of(const std::vector<StatusLine>& lines, const Style& style);

// supervisorctl's: whether one of them is down.
int exit_code_of(const json::array& rows, std::int64_t now_ms);

}  // namespace trainward::ctl
