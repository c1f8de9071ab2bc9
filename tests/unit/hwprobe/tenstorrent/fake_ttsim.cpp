// A library with the simulator's functions and none of the simulator: windows over a few words.
// Like the simulator it ends the process at an access that it does not know, or at a second start.
// FAKE_TTSIM_WORDS may name a recording: then it has those words instead.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <tuple>

namespace {

constexpr std::uint64_t bar0 = 0x1'0000'0000;
constexpr std::uint64_t stride = 0x10'0000'0000;

// What lives as long as the library, as the simulator's state does.
struct Board {
  bool started = false;
  std::uint64_t window = 0;
  std::uint32_t clock = 0;
  std::map<std::uint64_t, std::uint32_t> bar{{0x1FF5002C, 0x1060A280}, {0x1FF30060, 0xC0DE0001}};
  std::map<std::tuple<unsigned, unsigned, std::uint64_t>, std::uint32_t> noc{
      {{9, 6, 0x1104}, 1}, {{0, 10, 0xFFFB2002C}, 0x1060A280}};
};

Board& board() {
  static Board only;
  return only;
}

// The word that an address of the host means.
std::uint32_t& word_at(std::uint64_t address) {
  const std::uint64_t offset = address - bar0;
  if (address < bar0 || offset >= stride) std::_Exit(1);
  if (offset >= 1U << 20) {
    const auto found = board().bar.find(offset);
    if (found == board().bar.end()) std::_Exit(1);
    return found->second;
  }
  const std::uint64_t window = board().window;
  if ((window >> 42) != 1) std::_Exit(1);  // strict order, one tile, the first network
  const auto x = static_cast<unsigned>((window >> 16) & 0x3F);
  const auto y = static_cast<unsigned>((window >> 22) & 0x3F);
  const auto found = board().noc.find({x, y, ((window & 0xFFFF) << 20) | offset});
  if (found == board().noc.end()) std::_Exit(1);
  return found->second;
}

// "bar 0x1ff30060 = 0xc0de0001", "noc 9 6 0x1104 = 0x1"; of a key that comes twice the first
// counts.
void read_words(const char* file) {
  Board& words = board();
  words.bar.clear();
  words.noc.clear();
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    unsigned x = 0;
    unsigned y = 0;
    unsigned long long at = 0;
    unsigned word = 0;
    if (std::sscanf(line.c_str(), "bar %llx = %x", &at, &word) == 2) words.bar.emplace(at, word);
    if (std::sscanf(line.c_str(), "noc %u %u %llx = %x", &x, &y, &at, &word) == 4) {
      words.noc.emplace(std::tuple(x, y, at), word);
    }
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void libttsim_init() {
  if (board().started) std::_Exit(1);
  board().started = true;
  if (const char* file = std::getenv("FAKE_TTSIM_WORDS")) read_words(file);
}

__attribute__((visibility("default"))) void libttsim_exit() {
  if (!board().started) std::_Exit(1);
  board() = Board();
}

__attribute__((visibility("default"))) std::uint32_t libttsim_pci_config_rd32(
    std::uint32_t bus_dev_fn, std::uint32_t offset) {
  if (bus_dev_fn != 0) return 0xFFFFFFFF;
  return offset == 0 ? 0x401E1E52 : board().clock;
}

__attribute__((visibility("default"))) void libttsim_pci_mem_rd_bytes(std::uint64_t address,
                                                                      void* into,
                                                                      std::uint32_t bytes) {
  if (bytes != 4) std::_Exit(1);
  std::memcpy(into, &word_at(address), bytes);
}

__attribute__((visibility("default"))) void libttsim_pci_mem_wr_bytes(std::uint64_t address,
                                                                      const void* from,
                                                                      std::uint32_t bytes) {
  if (address == bar0 + 0x1FC00000 && bytes == 8) {
    std::memcpy(&board().window, from, bytes);
    return;
  }
  if (bytes != 4) std::_Exit(1);
  std::memcpy(&word_at(address), from, bytes);
}

__attribute__((visibility("default"))) void libttsim_clock(std::uint32_t steps) {
  board().clock += steps;
  // The cores of the links count.
  for (auto& [place, word] : board().noc) {
    if (std::get<2>(place) == 0x1C) ++word;
  }
}
}
