#include "hwprobe/tenstorrent/registers/recording.hpp"

#include "hwprobe/tenstorrent/registers/keys.hpp"
#include "hwprobe/tenstorrent/registers/read_error.hpp"

namespace trainward::hwprobe {

Result<std::uint32_t> RecordingRegisters::told(std::string key, Result<std::uint32_t> word) {
  sink_(word ? Reading{std::move(key), word_text(*word), ""}
             : Reading{std::move(key), "", error_name(word.error())});
  return word;
}

Result<std::uint32_t> RecordingRegisters::config32(std::uint32_t offset) {
  return told(config_key(offset), registers_.config32(offset));
}

Result<std::uint32_t> RecordingRegisters::bar32(std::uint32_t offset) {
  return told(bar_key(offset), registers_.bar32(offset));
}

Result<std::uint32_t> RecordingRegisters::noc32(unsigned x, unsigned y, std::uint64_t address) {
  return told(noc_key(x, y, address), registers_.noc32(x, y, address));
}

Result<DriverInfo> RecordingRegisters::driver() {
  auto info = registers_.driver();
  sink_(info ? Reading{std::string(driver_key), to_text(*info), ""}
             : Reading{std::string(driver_key), "", error_name(info.error())});
  return info;
}

Status RecordingRegisters::wait(std::chrono::milliseconds time) {
  auto status = registers_.wait(time);
  sink_(status ? Reading{wait_key(time), "done", ""}
               : Reading{wait_key(time), "", error_name(status.error())});
  return status;
}

}  // namespace trainward::hwprobe
