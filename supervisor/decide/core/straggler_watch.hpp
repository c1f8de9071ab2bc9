// Which device of a run the others wait for.
//
// A step that all devices make together takes as long on each of them, whichever is slow, so the
// time of a step says nothing. Compared is the time that each computed by itself, before the
// exchange, with the median of the others (as NVRx scores a rank against the others, and flags it
// below 0.75). A device is slow when over some windows its pace is certainly below 0.75, and when
// it changed: when it has left what it was before (a cumulative sum, Page 1954). What scatters, or
// moves from one device to the other with the data, is neither.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "common/protocol/device_figures.hpp"

namespace trainward::core {

// Of one device, in logarithms of its time as a multiple of the others'.
struct DevicePace {
  int windows = 0;      // seen so far
  double mean = 0;      // of about the newest eight windows
  double variance = 0;  // of them
  double newest = 0;    // smoothed over two or three windows
  double usual = 0;     // as long as nothing is wrong
  double spread = 0;    // mean distance from it
  double shift = 0;     // how far it has left it, in standard deviations that added up
  bool told = false;    // to be slow
  int recoveries = 0;   // told of
  int quiet = 0;        // windows for which nothing is told of it: one that comes and goes
  friend bool operator==(const DevicePace&, const DevicePace&) = default;
};
BOOST_DESCRIBE_STRUCT(DevicePace, (),
                      (windows, mean, variance, newest, usual, spread, shift, told, recoveries,
                       quiet))

// One pace a device, in the order of the window; where their number is another than before, all
// begin again. Gives what a person should hear: which device has become slow, and which no longer
// is.
std::vector<std::string> watch_devices(std::vector<DevicePace>& paces, const DeviceWindow& window);

}  // namespace trainward::core
