// A card's registers through the kernel driver, without disturbing it or its users.
//
// In: the calls (borrowed), the device node and the board's `config` file in sysfs. Out: words.
// Nothing is opened before the first read that needs it; the device is then opened in the way that
// sends no message to the management processor and does not wait for an exclusive holder, mapped
// for reading only, with one NOC window (the smallest there is, since programs hold many) that is
// moved about. An error of the first opening is the answer to every later read. Errors: see
// register_io.hpp; EINVAL or ENOTTY from windows on drivers before 1.32. A read may block for ever
// in the kernel, and raises SIGBUS when the board is reset meanwhile.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "hwprobe/tenstorrent/registers/kmd_calls.hpp"
#include "hwprobe/tenstorrent/registers/register_io.hpp"

namespace trainward::hwprobe {

class KmdRegisters : public RegisterIo {
 public:
  KmdRegisters(KmdCalls& calls, std::filesystem::path node, std::filesystem::path config)
      : calls_(calls), node_(std::move(node)), config_(std::move(config)) {}
  KmdRegisters(const KmdRegisters&) = delete;
  KmdRegisters& operator=(const KmdRegisters&) = delete;
  ~KmdRegisters() override;

  Result<std::uint32_t> config32(std::uint32_t offset) override;
  Result<std::uint32_t> bar32(std::uint32_t offset) override;
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override;
  Result<DriverInfo> driver() override;
  Status wait(std::chrono::milliseconds time) override;

 private:
  struct NocWindow {
    std::uint32_t id = 0;
    std::uint64_t bytes = 0;
    RegisterWindow words;
    // Where it points; nothing before the first use.
    struct Place {
      unsigned x = 0;
      unsigned y = 0;
      std::uint64_t base = 0;
      friend bool operator==(const Place&, const Place&) = default;
    };
    std::optional<Place> place;
  };

  Result<int> device();  // opens it once
  Result<RegisterWindow> map_bar();
  Result<NocWindow> make_window();
  Status point(NocWindow& window, const NocWindow::Place& place);

  KmdCalls& calls_;
  std::filesystem::path node_;
  std::filesystem::path config_;
  std::optional<Result<Fd>> fd_;
  std::optional<Result<RegisterWindow>> bar_;
  std::optional<Result<NocWindow>> window_;
};

}  // namespace trainward::hwprobe
