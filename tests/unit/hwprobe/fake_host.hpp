// A folder that goes away with the test, and stands for / of a host where that is needed: with
// boards of Tenstorrent in it, as their driver shows them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "temporary_folder.hpp"

namespace trainward::hwprobe {

class FakeHost : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    return temporary_.write(name, text);
  }

  static constexpr const char* first_card = "0000:c1:00.0";
  static std::string device(const std::string& bus_id = first_card) {
    return "sys/bus/pci/devices/" + bus_id + "/";
  }
  // Of the driver's attributes.
  static std::string node(const std::string& bus_id = first_card, int number = 0) {
    return device(bus_id) + "tenstorrent/tenstorrent!" + std::to_string(number) + "/";
  }
  // Without a heartbeat, so that nothing is waited for.
  void put_card(const std::string& bus_id = first_card, int number = 0,
                const std::string& serial = "0100014511708037") const {
    write(device(bus_id) + "vendor", "0x1e52\n");
    write(device(bus_id) + "config", "\x52\x1e\x1e\x40");
    write(node(bus_id, number) + "tt_serial", serial + "\n");
    write(node(bus_id, number) + "tt_card_type", "n300\n");
  }

 private:
  TemporaryFolder temporary_;

 protected:
  const std::filesystem::path folder_ = temporary_.path();
};

}  // namespace trainward::hwprobe
