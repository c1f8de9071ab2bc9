#include "hwprobe/tenstorrent/registers/kmd.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/allowed.hpp"
#include "hwprobe/tenstorrent/registers/kmd_abi.hpp"
#include "hwprobe/tenstorrent/registers/read_error.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;
constexpr std::array<std::uint64_t, 3> window_sizes{1 * mebibyte, 2 * mebibyte, 16 * mebibyte};

// O_APPEND: the driver sends no power message to the management processor, neither now nor at the
// close. O_NONBLOCK: EAGAIN instead of waiting for an exclusive holder.
constexpr int open_flags = O_RDWR | O_CLOEXEC | O_APPEND | O_NONBLOCK;

}  // namespace

KmdRegisters::~KmdRegisters() {
  if (!window_ || !*window_) return;
  // A window that is still mapped would not be freed.
  (*window_)->words.reset();
  kmd::FreeWindow request{(*window_)->id};
  calls_.ioctl((*fd_)->get(), kmd::free_window, &request);  // closing frees it too
}

Result<int> KmdRegisters::device() {
  if (!fd_) fd_ = calls_.open(node_, open_flags);
  if (!*fd_) return tl::unexpected<Error>(fd_->error());
  return (*fd_)->get();
}

Result<std::uint32_t> KmdRegisters::config32(std::uint32_t offset) {
  auto allowed = may_read_config(offset);
  if (!allowed) return propagate(allowed);
  return calls_.config32(config_, offset);
}

Result<RegisterWindow> KmdRegisters::map_bar() {
  auto fd = device();
  if (!fd) return propagate(fd);
  kmd::Mappings mappings;
  if (const int error = calls_.ioctl(*fd, kmd::query_mappings, &mappings); error != 0) {
    return fail_read(error, "the driver's list of mappings");
  }
  for (const kmd::Mapping& mapping : mappings.mappings) {
    const std::uint64_t end =
        std::uint64_t{wormhole::bar::window_begin} + wormhole::bar::window_bytes;
    if (mapping.id != kmd::bar0_uncached || mapping.size < end) continue;
    return calls_.map(*fd, mapping.base + wormhole::bar::window_begin, wormhole::bar::window_bytes);
  }
  return fail_read(ENXIO, "the driver's list of mappings");
}

Result<std::uint32_t> KmdRegisters::bar32(std::uint32_t offset) {
  auto allowed = may_read_bar(offset);
  if (!allowed) return propagate(allowed);
  if (!bar_) bar_ = map_bar();
  if (!*bar_) return tl::unexpected<Error>(bar_->error());
  return bar_->value().get()[(offset - wormhole::bar::window_begin) / 4];
}

Result<KmdRegisters::NocWindow> KmdRegisters::make_window() {
  auto fd = device();
  if (!fd) return propagate(fd);
  int error = 0;
  for (const std::uint64_t size : window_sizes) {
    kmd::AllocateWindow request;
    request.size = size;
    error = calls_.ioctl(*fd, kmd::allocate_window, &request);
    if (error == ENOMEM) continue;  // none of this size is free
    if (error != 0) break;
    auto words = calls_.map(*fd, request.offset_uncached, size);
    if (!words) {
      kmd::FreeWindow unused{request.id};
      calls_.ioctl(*fd, kmd::free_window, &unused);
      return propagate(words);
    }
    return NocWindow{request.id, size, std::move(*words), std::nullopt};
  }
  return fail_read(error, "a window of the driver");
}

Status KmdRegisters::point(NocWindow& window, const NocWindow::Place& place) {
  if (window.place == place) return {};
  kmd::ConfigureWindow request;
  request.id = window.id;
  request.target.address = place.base;
  request.target.x_end = static_cast<std::uint16_t>(place.x);
  request.target.y_end = static_cast<std::uint16_t>(place.y);
  request.target.ordering = kmd::strict_ordering;
  window.place.reset();  // after a failure its target is unknown
  const int error = calls_.ioctl(fd_->value().get(), kmd::configure_window, &request);
  if (error != 0) return fail_read(error, "a window of the driver");
  window.place = place;
  return {};
}

Result<std::uint32_t> KmdRegisters::noc32(unsigned x, unsigned y, std::uint64_t address) {
  auto allowed = may_read_noc(x, y, address);
  if (!allowed) return propagate(allowed);
  if (!window_) window_ = make_window();
  if (!*window_) return tl::unexpected<Error>(window_->error());
  NocWindow& window = window_->value();
  const std::uint64_t base = address - address % window.bytes;
  auto pointed = point(window, {x, y, base});
  if (!pointed) return propagate(pointed);
  return window.words.get()[(address - base) / 4];
}

Result<DriverInfo> KmdRegisters::driver() {
  auto fd = device();
  if (!fd) return propagate(fd);
  kmd::DriverVersion version;
  if (const int error = calls_.ioctl(*fd, kmd::get_driver_info, &version); error != 0) {
    return fail_read(error, node_.string());
  }
  kmd::DeviceInfo device;
  if (const int error = calls_.ioctl(*fd, kmd::get_device_info, &device); error != 0) {
    return fail_read(error, node_.string());
  }
  DriverInfo info;
  info.api = version.api;
  if (version.size >= version.room) {
    info.version = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  }
  info.vendor = device.vendor;
  info.device = device.device;
  info.bus_id = fmt::format("{:04x}:{:02x}:{:02x}.{}", device.pci_domain, device.bus_dev_fn >> 8,
                            (device.bus_dev_fn >> 3) & 0x1F, device.bus_dev_fn & 7);
  return info;
}

Status KmdRegisters::wait(std::chrono::milliseconds time) {
  calls_.wait(time);
  return {};
}

}  // namespace trainward::hwprobe
