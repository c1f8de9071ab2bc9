// What trainward-sim does once its arguments are read.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace trainward::sim {

struct Request {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1;
  std::string scenario = "chaos";
  std::int64_t days = 14;
  std::string replay;  // a file
  bool trace = false;
  bool compare = false;
  bool json = false;
  bool list = false;
};

// "7" or "1-2000"; false when it is neither.
bool read_seeds(const std::string& text, Request& request);

// Returns the exit code.
int carry_out(const Request& request, std::ostream& out, std::ostream& err);

}  // namespace trainward::sim
