// A healthy N300, chip L, as words in memory, which tests then break. Time is a counter: heartbeats
// move when somebody waits. Every access is kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/read_error.hpp"
#include "hwprobe/tenstorrent/registers/register_io.hpp"
#include "hwprobe/tenstorrent/registers/register_keys.hpp"

namespace trainward::hwprobe {

class FakeCard : public RegisterIo {
 public:
  static constexpr std::uint64_t board_id = 0x010001451170C0C4;

  FakeCard() {
    namespace wh = wormhole;
    config[wh::config::ids] = 0x401E1E52;
    bar[wh::bar::bus_check] = 0x1060A280;
    bar[wh::bar::scratch6] = 0;
    bar[wh::bar::post_code] = 0xC0DE0001;
    bar[wh::bar::message_status] = 0;
    noc[{0, 10, wh::noc_check}] = 0x1060A280;
    put_tags({{1, 0x01000145},
              {2, 0x1170C0C4},
              {3, 1},
              {6, 800},
              {7, 12},
              {8, 15},
              {10, 83},
              {11, 57 << 16},
              {13, 35 << 16},
              {14, 500},
              {21, 0xFFFF},
              {22, 0x555},
              {24, 0x6E000},
              {28, 0x13070100},
              {32, 100},
              {52, 0},
              {56, 75},
              {61, 0x12345678},
              {62, 0x9ABCDEF0}});
    for (const unsigned channel : wh::on_board_channels) put_channel(channel);
    info.api = 2;
    info.version = "2.10.1";
    info.vendor = 0x1E52;
    info.device = 0x401E;
    info.bus_id = "0000:c1:00.0";
    on_wait = [this] { beat(); };
  }

  void put_tags(std::vector<std::pair<std::uint16_t, std::uint32_t>> tags) {
    tags_.clear();
    bar[wormhole::bar::telemetry_table] = table;
    bar[wormhole::bar::telemetry_values] = values;
    put_csm(table, 0x10000);
    put_csm(table + 4, static_cast<std::uint32_t>(tags.size()));
    for (std::uint32_t i = 0; i < tags.size(); ++i) {
      put_csm(table + 8 + 4 * i, (i << 16) | tags[i].first);
      put_csm(values + 4 * i, tags[i].second);
      tags_[tags[i].first] = values + 4 * i;
    }
  }
  void put_tag(std::uint16_t tag, std::uint32_t value) { put_csm(tags_.at(tag), value); }
  void put_csm(std::uint32_t address, std::uint32_t value) { bar[csm_offset(address)] = value; }
  static std::uint32_t csm_offset(std::uint32_t address) {
    return address - wormhole::csm_begin + wormhole::bar::csm;
  }

  // The array of firmware up to 18.3 instead of the table.
  void put_legacy() {
    bar[wormhole::bar::telemetry_table] = 0;
    const std::map<std::uint32_t, std::uint32_t> words{
        {0, 0xBA5E0001},  {4, 0x01000145},  {5, 0x1170C0C4}, {11, 0x6E000}, {14, 0x2222222},
        {19, 4000},       {24, 0x03E801F4}, {28, 720},       {29, 57 * 16}, {32, 0x0064000C},
        {33, 0x00F0000F}, {35, 0x0053004B}, {49, 0x12030000}};
    for (std::uint32_t i = 0; i < 50; ++i) put_legacy(i, 0);
    for (const auto& [index, word] : words) put_legacy(index, word);
  }
  void put_legacy(std::uint32_t index, std::uint32_t word) {
    put_csm(wormhole::legacy_telemetry + 4 * index, word);
  }

  void put_channel(unsigned channel) {
    namespace at = wormhole::ethernet;
    for (const std::uint32_t address :
         {at::port_disable_mask, at::routing_off, at::local_place, at::remote_place,
          at::remote_rack, at::link_inactive, at::retrains, at::retrain_request, at::crc_errors,
          at::pcs_faults, at::corrected_high, at::corrected_low, at::uncorrected_high,
          at::uncorrected_low, at::soft_reset}) {
      at_channel(channel, address) = 0;
    }
    at_channel(channel, at::heartbeat) = 0xABCD003C;
    at_channel(channel, at::firmware) = 0x6E000;
    at_channel(channel, at::train_status) = 1;
    at_channel(channel, at::connection + 4 * channel) = 2;
    at_channel(channel, at::link_status) = 6;
    at_channel(channel, at::local_board_low) = 0x5170C0C4;
    at_channel(channel, at::local_board_high) = 2;
    at_channel(channel, at::local_board_type) = 2;
    at_channel(channel, at::remote_board_low) = 0x5170C0C4;
    at_channel(channel, at::remote_board_high) = 3;
    at_channel(channel, at::remote_channel) = channel - 8;
    at_channel(channel, at::remote_board_type) = 3;
  }
  std::uint32_t& at_channel(unsigned channel, std::uint32_t address) {
    const wormhole::Tile tile = wormhole::ethernet_tiles.at(channel);
    return noc[{tile.x, tile.y, address}];
  }

  void beat() {
    for (const unsigned channel : wormhole::on_board_channels) {
      if (frozen_channels.count(channel) == 0) ++at_channel(channel, wormhole::ethernet::heartbeat);
    }
    if (arc_frozen) return;
    if (tags_.count(32) != 0) bar[csm_offset(tags_[32])] += 12;
    bar[csm_offset(wormhole::legacy_telemetry + 4 * 19)] += 4854;
  }

  Result<std::uint32_t> config32(std::uint32_t offset) override {
    return answer(config_key(offset), config, offset);
  }
  Result<std::uint32_t> bar32(std::uint32_t offset) override {
    return answer(bar_key(offset), bar, offset);
  }
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override {
    return answer(noc_key(x, y, address), noc, std::tuple(x, y, address));
  }
  Result<DriverInfo> driver() override {
    if (!driver_error.empty()) return fail_read(driver_error, "driver");
    return info;
  }
  Status wait(std::chrono::milliseconds time) override {
    waits.push_back(time.count());
    if (on_wait) on_wait();
    return {};
  }

  static constexpr std::uint32_t table = 0x10000100;
  static constexpr std::uint32_t values = 0x10000400;

  std::map<std::uint32_t, std::uint32_t> config;
  std::map<std::uint32_t, std::uint32_t> bar;
  std::map<std::tuple<unsigned, unsigned, std::uint64_t>, std::uint32_t> noc;
  std::map<unsigned, bool> frozen_channels;
  bool arc_frozen = false;
  DriverInfo info;
  std::string driver_error;
  std::function<void()> on_wait;
  // Called before each answer with its key; may break the card, or give an error's name.
  std::function<std::string(const std::string&)> on_read;

  std::vector<std::string> reads;
  std::vector<std::int64_t> waits;

 private:
  template <typename Words, typename Key>
  Result<std::uint32_t> answer(const std::string& name, const Words& words, const Key& key) {
    reads.push_back(name);
    if (on_read) {
      if (const std::string error = on_read(name); !error.empty()) return fail_read(error, name);
    }
    const auto found = words.find(key);
    if (found == words.end()) return fail_read("ENXIO", name);
    return found->second;
  }

  std::map<std::uint16_t, std::uint32_t> tags_;
};

}  // namespace trainward::hwprobe
