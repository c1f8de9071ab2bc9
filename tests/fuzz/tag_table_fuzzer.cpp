// The management processor's memory, as anything may have left it. Input: three words,
// little-endian (the two pointers of the telemetry table and the heartbeat's step), then the memory
// from where the first points on; the rest reads as zero.
#include <algorithm>
#include <cstring>

#include "hwprobe/tenstorrent/decode/arc.hpp"
#include "hwprobe/tenstorrent/decode/board_facts.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"
#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/allowed.hpp"
#include "require.hpp"

namespace trainward::fuzz {
namespace {

namespace wh = hwprobe::wormhole;

class Memory : public hwprobe::RegisterIo {
 public:
  Memory(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  Result<std::uint32_t> config32(std::uint32_t /*offset*/) override { return 0x401E1E52; }
  Result<std::uint32_t> bar32(std::uint32_t offset) override {
    require(hwprobe::may_read_bar(offset).has_value(), "only what may be read is read");
    require(++reads_ < 2000, "reads are bounded");
    switch (offset) {
      case wh::bar::telemetry_table:
        return word(0);
      case wh::bar::telemetry_values:
        return word(4);
      case wh::bar::post_code:
        return 0xC0DE0001;
      case wh::bar::bus_check:
      case wh::bar::message_status:
      case wh::bar::scratch6:
        return 0;
      default:
        break;
    }
    const std::uint64_t address = std::uint64_t{offset} - wh::bar::csm + wh::csm_begin;
    const std::uint64_t begin = word(0);
    if (address < begin) return 0;
    return word(12 + (address - begin)) + waits_ * word(8);
  }
  Result<std::uint32_t> noc32(unsigned /*x*/, unsigned /*y*/, std::uint64_t /*address*/) override {
    return 0;
  }
  Result<hwprobe::DriverInfo> driver() override { return hwprobe::DriverInfo(); }
  Status wait(std::chrono::milliseconds /*time*/) override {
    ++waits_;
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t word(std::uint64_t at) const {
    std::uint32_t out = 0;
    if (at < size_) std::memcpy(&out, data_ + at, std::min<std::size_t>(4, size_ - at));
    return out;
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::uint32_t waits_ = 0;
  int reads_ = 0;
};

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  fuzz::Memory memory(data, size);
  const hwprobe::ArcLook look = hwprobe::look_at_arc(memory);
  fuzz::require(look.hang == hwprobe::Hang::none, "no telemetry is a hang");
  fuzz::require(look.state == hwprobe::ArcState::running, "and the processor runs");
  if (look.telemetry) {
    fuzz::require(look.telemetry->dram.empty() || look.telemetry->dram.size() == 6, "six channels");
    if (const auto celsius = look.telemetry->temperature_c) {
      fuzz::require(*celsius >= -50 && *celsius <= 200, "a temperature that can be");
    }
  }
  hwprobe::BoardFacts facts;
  hwprobe::add(look, facts);
  const hwprobe::Board board = hwprobe::judge(facts);
  fuzz::require(board.chips.size() == 1, "one chip was looked at");
  return 0;
}
