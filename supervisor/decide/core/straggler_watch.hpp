// Which device of a run the others wait for.
//
// A step that all devices make together takes as long on each of them, whichever is slow, so the
// time of a step says nothing. Compared is the time that each computed by itself, before the
// exchange (NVRx scores own against best in the same way, and flags below 0.75). A device is slow
// when it did less than 0.75 of the fastest in three windows in a row, and when it changed: when
// its time against the median of the others has left what it was before (a cumulative sum, Page
// 1954). Slowness that moves from one device to the other with the data is neither.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "common/protocol/device_figures.hpp"

namespace trainward::core {

struct DevicePace {
  int slow = 0;  // windows in a row below
  int fine = 0;  // windows in a row that were not, of a device that was told to be slow
  bool told = false;
  int windows = 0;    // seen so far, until its usual pace is known
  double usual = 0;   // its time against that of the others, as long as nothing is wrong
  double spread = 0;  // mean distance from it
  double shift = 0;   // how far it has left it, in standard deviations that added up
  friend bool operator==(const DevicePace&, const DevicePace&) = default;
};
BOOST_DESCRIBE_STRUCT(DevicePace, (), (slow, fine, told, windows, usual, spread, shift))

// One pace a device, in the order of the window; those of other devices than before begin again.
// Gives what a person should hear: which device has become slow, and which no longer is.
std::vector<std::string> watch_devices(std::vector<DevicePace>& paces, const DeviceWindow& window);

}  // namespace trainward::core
