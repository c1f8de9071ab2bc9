// A simulated board: the public simulator ttsim, whose library the user names.
//
// In: the path of a libttsim.so for Wormhole, and which of its boards. Out: words, as from a card.
// Errors: a library that cannot be loaded or lacks its functions, a board it does not have.
// Anything the simulator does not model ends the process (it says so on stdout), and it can be
// started once a process: fork first, then open it in the child. Not for two threads. Source:
// ttsim, docs/libttsim_api.md.
#pragma once

#include <filesystem>
#include <memory>

#include "hwprobe/tenstorrent/registers/register_io.hpp"

namespace trainward::hwprobe {

struct TtsimFunctions;

class TtsimRegisters : public RegisterIo {
 public:
  static Result<std::unique_ptr<TtsimRegisters>> open(const std::filesystem::path& library,
                                                      unsigned board);
  TtsimRegisters(const TtsimRegisters&) = delete;
  TtsimRegisters& operator=(const TtsimRegisters&) = delete;
  ~TtsimRegisters() override;

  Result<std::uint32_t> config32(std::uint32_t offset) override;
  Result<std::uint32_t> bar32(std::uint32_t offset) override;
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override;
  Result<DriverInfo> driver() override;
  Status wait(std::chrono::milliseconds time) override;

  // How many boards are simulated.
  [[nodiscard]] unsigned boards() const;

  // Breaks the simulated board, for tests: a word of BAR0, or of a tile.
  void poke_bar(std::uint32_t offset, std::uint32_t word);
  void poke_noc(unsigned x, unsigned y, std::uint64_t address, std::uint32_t word);

 private:
  TtsimRegisters(std::unique_ptr<TtsimFunctions> functions, unsigned board);
  [[nodiscard]] std::uint64_t bar0(std::uint32_t offset) const;
  std::uint64_t point(unsigned x, unsigned y, std::uint64_t address);

  std::unique_ptr<TtsimFunctions> functions_;
  unsigned board_;
};

}  // namespace trainward::hwprobe
