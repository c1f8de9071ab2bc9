// The kernel driver's calls, played over the words of a FakeCard; versions 1.27 to 2.10.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fake_card.hpp"
#include "hwprobe/tenstorrent/registers/kmd_abi.hpp"
#include "hwprobe/tenstorrent/registers/kmd_calls.hpp"

namespace trainward::hwprobe {

// Serves the words of a FakeCard through windows, as the driver does.
class FakeDriver : public KmdCalls {
 public:
  explicit FakeDriver(int major = 2, int minor = 10) : major_(major), minor_(minor) {}

  Result<Fd> open(const std::filesystem::path& node, int flags) override {
    opened.push_back(node.string());
    open_flags = flags;
    if (open_error != 0) return fail_read(open_error, node.string());
    return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }

  int ioctl(int /*fd*/, unsigned long request, void* argument) override {
    requests.push_back(request & 0xFF);
    if (ioctl_error != 0) return ioctl_error;
    switch (request) {
      case kmd::get_driver_info:
        return driver_info(*static_cast<kmd::DriverVersion*>(argument));
      case kmd::get_device_info: {
        auto& info = *static_cast<kmd::DeviceInfo*>(argument);
        info.size = sizeof info - 4;
        info.vendor = 0x1E52;
        info.device = 0x401E;
        info.bus_dev_fn = 0xC100;
        return 0;
      }
      case kmd::query_mappings: {
        auto& mappings = *static_cast<kmd::Mappings*>(argument);
        mappings.mappings[0] = {1, 0, 0, bar0_bytes};
        mappings.mappings[1] = {2, 0, std::uint64_t{1} << 32, bar0_bytes};
        return 0;
      }
      case kmd::allocate_window:
        return allocate(*static_cast<kmd::AllocateWindow*>(argument));
      case kmd::configure_window:
        return configure(*static_cast<kmd::ConfigureWindow*>(argument));
      case kmd::free_window:
        if (mapped_windows != 0) return EBUSY;
        ++freed;
        return 0;
      default:
        return EINVAL;
    }
  }

  Result<RegisterWindow> map(int /*fd*/, std::uint64_t offset, std::size_t bytes) override {
    if (offset == wormhole::bar::window_begin) {
      EXPECT_EQ(bytes, wormhole::bar::window_bytes);
      return RegisterWindow(bar_words().data(), [](const volatile std::uint32_t*) {});
    }
    if (map_error != 0) return fail_read(map_error, "mmap");
    EXPECT_EQ(offset, window_offset);
    EXPECT_EQ(bytes, window_.size() * 4);
    ++mapped_windows;
    return RegisterWindow(window_.data(),
                          [this](const volatile std::uint32_t*) { --mapped_windows; });
  }

  Result<std::uint32_t> config32(const std::filesystem::path& /*file*/,
                                 std::uint32_t offset) override {
    return card.config32(offset);
  }
  void wait(std::chrono::milliseconds time) override {
    EXPECT_TRUE(card.wait(time));
    refill();
  }

  // After the card's words were changed.
  void refill() {
    if (!bar_.empty()) fill_bar();
    if (place_.id != 0) fill_window();
  }

  FakeCard card;
  std::uint64_t bar0_bytes = 512ULL << 20;
  int open_error = 0;
  int ioctl_error = 0;
  int map_error = 0;
  std::uint64_t smallest_free = 1 << 20;  // smaller windows are all taken
  std::vector<std::string> opened;
  int open_flags = 0;
  std::vector<unsigned long> requests;
  std::vector<std::uint64_t> window_sizes;
  int mapped_windows = 0;
  int freed = 0;

 private:
  static constexpr std::uint64_t window_offset = 7ULL << 36;

  int driver_info(kmd::DriverVersion& info) const {
    info.api = major_ >= 2 ? 2 : 1;
    info.size = 8;
    if (major_ < 2) return 0;
    info.size = info.room;
    info.major = static_cast<std::uint8_t>(major_);
    info.minor = static_cast<std::uint8_t>(minor_);
    info.patch = 1;
    return 0;
  }
  int allocate(kmd::AllocateWindow& request) {
    if (major_ == 1 && minor_ < 32) return EINVAL;
    window_sizes.push_back(request.size);
    if (request.size < smallest_free) return ENOMEM;
    window_.assign(request.size / 4, 0);
    request.id = 5;
    request.offset_uncached = window_offset;
    return 0;
  }
  int configure(const kmd::ConfigureWindow& request) {
    const kmd::WindowTarget& target = request.target;
    if (request.id != 5 || target.x_start != 0 || target.y_start != 0 || target.multicast != 0 ||
        target.linked != 0 || target.address % (window_.size() * 4) != 0 ||
        target.address >= std::uint64_t{1} << 36) {
      return EINVAL;
    }
    EXPECT_EQ(target.ordering, kmd::strict_ordering);
    place_ = request;
    fill_window();
    return 0;
  }
  void fill_window() {
    std::fill(window_.begin(), window_.end(), 0xDEADBEEF);
    const kmd::WindowTarget& target = place_.target;
    for (const auto& [key, word] : card.noc) {
      const auto& [x, y, address] = key;
      if (x != target.x_end || y != target.y_end || address < target.address) continue;
      if (address - target.address < window_.size() * 4) {
        window_[(address - target.address) / 4] = word;
      }
    }
  }
  std::vector<std::uint32_t>& bar_words() {
    fill_bar();
    return bar_;
  }
  void fill_bar() {
    if (bar_.empty()) bar_.assign(wormhole::bar::window_bytes / 4, 0);
    for (const auto& [offset, word] : card.bar) {
      bar_[(offset - wormhole::bar::window_begin) / 4] = word;
    }
  }

  int major_;
  int minor_;
  std::vector<std::uint32_t> bar_;
  std::vector<std::uint32_t> window_;
  kmd::ConfigureWindow place_;
};

}  // namespace trainward::hwprobe
