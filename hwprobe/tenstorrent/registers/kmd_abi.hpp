// The part of the kernel driver's interface that a probe uses, in our own words. Sizes are checked.
//
// Source: tt-kmd, ioctl.h (interface version 2; the structures have been these since driver 1.27,
// windows since 1.32). Reset, locks and pinning are left out: a probe does none of that.
#pragma once

#include <array>
#include <cstdint>

namespace trainward::hwprobe::kmd {

// _IO(0xFA, n): number n without a size or direction.
constexpr unsigned long request(unsigned number) { return 0xFA00UL | number; }

inline constexpr unsigned long get_device_info = request(0);
inline constexpr unsigned long query_mappings = request(2);
inline constexpr unsigned long get_driver_info = request(5);
inline constexpr unsigned long allocate_window = request(11);
inline constexpr unsigned long free_window = request(12);
inline constexpr unsigned long configure_window = request(13);

// Callers say how much room they have; the driver fills what it knows and zeroes the rest.
struct DeviceInfo {
  std::uint32_t room = 20;
  std::uint32_t size = 0;
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint16_t subsystem_vendor = 0;
  std::uint16_t subsystem = 0;
  std::uint16_t bus_dev_fn = 0;  // function 0-2, device 3-7, bus 8-15
  std::uint16_t max_dma_buffer_log2 = 0;
  std::uint16_t pci_domain = 0;
  std::uint16_t reserved = 0;
};

struct DriverVersion {
  std::uint32_t room = 12;
  std::uint32_t size = 0;  // 8 from drivers that do not tell their version
  std::uint32_t api = 0;
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  std::uint8_t patch = 0;
  std::uint8_t reserved = 0;
};

struct Mapping {
  std::uint32_t id = 0;  // 1: BAR0, uncached
  std::uint32_t reserved = 0;
  std::uint64_t base = 0;  // for mmap
  std::uint64_t size = 0;
};

inline constexpr std::uint32_t bar0_uncached = 1;

struct Mappings {
  std::uint32_t count = 8;
  std::uint32_t reserved = 0;
  std::array<Mapping, 8> mappings{};
};

struct AllocateWindow {
  std::uint64_t size = 0;
  std::uint64_t reserved0 = 0;
  std::uint32_t id = 0;
  std::uint32_t reserved1 = 0;
  std::uint64_t offset_uncached = 0;  // for mmap
  std::uint64_t offset_combining = 0;
  std::uint64_t reserved2 = 0;
};

struct WindowTarget {
  std::uint64_t address = 0;  // a multiple of the window's size
  std::uint16_t x_end = 0;    // the tile, for one tile
  std::uint16_t y_end = 0;
  std::uint16_t x_start = 0;
  std::uint16_t y_start = 0;
  std::uint8_t noc = 0;
  std::uint8_t multicast = 0;
  std::uint8_t ordering = 0;
  std::uint8_t linked = 0;
  std::uint8_t static_channel = 0;
  std::array<std::uint8_t, 3> reserved0{};
  std::array<std::uint32_t, 2> reserved1{};
};

inline constexpr std::uint8_t strict_ordering = 1;

struct ConfigureWindow {
  std::uint32_t id = 0;
  std::uint32_t reserved0 = 0;
  WindowTarget target;
  std::uint64_t reserved1 = 0;
};

struct FreeWindow {
  std::uint32_t id = 0;
};

static_assert(sizeof(DeviceInfo) == 24);
static_assert(sizeof(DriverVersion) == 16);
static_assert(sizeof(Mapping) == 24);
static_assert(sizeof(Mappings) == 8 + 8 * 24);
static_assert(sizeof(AllocateWindow) == 48);
static_assert(sizeof(WindowTarget) == 32);
static_assert(sizeof(ConfigureWindow) == 48);
static_assert(sizeof(FreeWindow) == 4);

}  // namespace trainward::hwprobe::kmd
