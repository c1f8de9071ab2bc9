#include "hwprobe/tenstorrent/registers/ttsim.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/allowed.hpp"

namespace trainward::hwprobe {

struct TtsimFunctions {
  void (*init)() = nullptr;
  void (*exit)() = nullptr;
  std::uint32_t (*config_read)(std::uint32_t bus_dev_fn, std::uint32_t offset) = nullptr;
  void (*read)(std::uint64_t address, void* into, std::uint32_t bytes) = nullptr;
  void (*write)(std::uint64_t address, const void* from, std::uint32_t bytes) = nullptr;
  void (*clock)(std::uint32_t steps) = nullptr;
};

namespace {

constexpr std::uint64_t bar0_of_first_board = 0x1'0000'0000;
constexpr std::uint64_t board_stride = 0x10'0000'0000;
constexpr std::uint32_t window_registers = 0x1FC00000;  // in BAR0; window 0 is ours
constexpr unsigned window_bits = 20;
constexpr unsigned noc_address_bits = 36;
// A board runs at a gigahertz, a simulator does not. This is enough for the firmware of the
// Ethernet cores to count on.
constexpr std::uint32_t steps_a_millisecond = 100;
constexpr unsigned most_boards = 32;
constexpr std::uint32_t most_steps = 200'000;

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<std::unique_ptr<TtsimRegisters>> TtsimRegisters::open(const std::filesystem::path& library,
                                                             unsigned board) {
  // Never closed: the simulator's state lives in the library, and it starts once a process.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return fail(ErrorKind::permanent,
                fmt::format("cannot load the simulator: {}", why == nullptr ? "" : why),
                library.string());
  }
  auto functions = std::make_unique<TtsimFunctions>();
  if (!find(handle, "libttsim_init", functions->init) ||
      !find(handle, "libttsim_exit", functions->exit) ||
      !find(handle, "libttsim_pci_config_rd32", functions->config_read) ||
      !find(handle, "libttsim_pci_mem_rd_bytes", functions->read) ||
      !find(handle, "libttsim_pci_mem_wr_bytes", functions->write) ||
      !find(handle, "libttsim_clock", functions->clock)) {
    return fail(ErrorKind::permanent, "is not the simulator: a function of it is missing",
                library.string());
  }
  functions->init();
  std::unique_ptr<TtsimRegisters> registers(new TtsimRegisters(std::move(functions), board));
  const auto ids = registers->config32(wormhole::config::ids);
  if (!ids || *ids == wormhole::all_ones) {
    return fail(ErrorKind::usage, fmt::format("the simulator has no board {}", board),
                library.string());
  }
  return registers;
}

TtsimRegisters::TtsimRegisters(std::unique_ptr<TtsimFunctions> functions, unsigned board)
    : functions_(std::move(functions)), board_(board) {}

TtsimRegisters::~TtsimRegisters() { functions_->exit(); }

std::uint64_t TtsimRegisters::bar0(std::uint32_t offset) const {
  return bar0_of_first_board + board_ * board_stride + offset;
}

// Points the first window (1 MiB) at the address and says where in BAR0 it is to be found.
std::uint64_t TtsimRegisters::point(unsigned x, unsigned y, std::uint64_t address) {
  const unsigned tile_at = noc_address_bits - window_bits;
  const std::uint64_t strict_ordering = std::uint64_t{1} << (tile_at + 26);
  const std::uint64_t target = (address >> window_bits) | (std::uint64_t{x} << tile_at) |
                               (std::uint64_t{y} << (tile_at + 6)) | strict_ordering;
  functions_->write(bar0(window_registers), &target, sizeof target);
  return bar0(static_cast<std::uint32_t>(address & ((1U << window_bits) - 1)));
}

Result<std::uint32_t> TtsimRegisters::config32(std::uint32_t offset) {
  auto allowed = may_read_config(offset);
  if (!allowed) return propagate(allowed);
  return functions_->config_read(board_ << 3, offset);
}

Result<std::uint32_t> TtsimRegisters::bar32(std::uint32_t offset) {
  auto allowed = may_read_bar(offset);
  if (!allowed) return propagate(allowed);
  std::uint32_t word = 0;
  functions_->read(bar0(offset), &word, sizeof word);
  return word;
}

Result<std::uint32_t> TtsimRegisters::noc32(unsigned x, unsigned y, std::uint64_t address) {
  auto allowed = may_read_noc(x, y, address);
  if (!allowed) return propagate(allowed);
  std::uint32_t word = 0;
  functions_->read(point(x, y, address), &word, sizeof word);
  return word;
}

Result<DriverInfo> TtsimRegisters::driver() {
  auto ids = config32(wormhole::config::ids);
  if (!ids) return propagate(ids);
  DriverInfo info;
  info.vendor = static_cast<std::uint16_t>(*ids & 0xFFFF);
  info.device = static_cast<std::uint16_t>(*ids >> 16);
  info.bus_id = fmt::format("0000:00:{:02x}.0", board_);
  return info;
}

Status TtsimRegisters::wait(std::chrono::milliseconds time) {
  const auto asked = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 1));
  functions_->clock(
      static_cast<std::uint32_t>(std::min<std::uint64_t>(asked * steps_a_millisecond, most_steps)));
  return {};
}

unsigned TtsimRegisters::boards() const {
  unsigned count = 0;
  while (count < most_boards &&
         functions_->config_read(count << 3, wormhole::config::ids) != wormhole::all_ones) {
    ++count;
  }
  return count;
}

void TtsimRegisters::poke_bar(std::uint32_t offset, std::uint32_t word) {
  functions_->write(bar0(offset), &word, sizeof word);
}

void TtsimRegisters::poke_noc(unsigned x, unsigned y, std::uint64_t address, std::uint32_t word) {
  functions_->write(point(x, y, address), &word, sizeof word);
}

}  // namespace trainward::hwprobe
