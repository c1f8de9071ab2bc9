// The devices or ranks of a run, from the rows of `devices` in a document. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/json/json.hpp"

namespace trainward::views {

// A first column of names, and one for each figure that any of them has told.
struct DeviceTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
DeviceTable device_table(const json::array& devices);

// "8 devices, the slowest (a/R) computes 1.42 times as long as the fastest, exchange 31.2 % of the
// time"; empty: there are fewer than two.
std::string devices_text(const json::array& devices);

}  // namespace trainward::views
