#include "hwprobe/tenstorrent/registers/replay.hpp"

#include <fmt/format.h>

#include "hwprobe/tenstorrent/registers/keys.hpp"
#include "hwprobe/tenstorrent/registers/read_error.hpp"

namespace trainward::hwprobe {

ReplayRegisters::ReplayRegisters(std::span<const Reading> readings) {
  for (const Reading& reading : readings) answers_[reading.key].readings.push_back(reading);
}

Result<std::string> ReplayRegisters::next(const std::string& key) {
  const auto found = answers_.find(key);
  if (found == answers_.end()) return fail(ErrorKind::usage, "was not recorded", key);
  Answers& answers = found->second;
  const bool exhausted = answers.next == answers.readings.size();
  if (exhausted && answers.given_at != waits_) {
    return fail(ErrorKind::usage, "was not recorded after a wait", key);
  }
  const Reading& reading = exhausted ? answers.readings.back() : answers.readings[answers.next];
  if (!exhausted) ++answers.next;
  answers.given_at = waits_;
  if (!reading.error.empty()) return fail_read(reading.error, key);
  return reading.value;
}

Result<std::uint32_t> ReplayRegisters::word(const std::string& key) {
  auto text = next(key);
  if (!text) return propagate(text);
  const auto word = parse_word(*text);
  if (!word) {
    return fail(ErrorKind::corrupt,
                fmt::format("expected a word such as 0x1f, found '{}'", text->substr(0, 40)), key);
  }
  return *word;
}

Result<std::uint32_t> ReplayRegisters::config32(std::uint32_t offset) {
  return word(config_key(offset));
}

Result<std::uint32_t> ReplayRegisters::bar32(std::uint32_t offset) { return word(bar_key(offset)); }

Result<std::uint32_t> ReplayRegisters::noc32(unsigned x, unsigned y, std::uint64_t address) {
  return word(noc_key(x, y, address));
}

Result<DriverInfo> ReplayRegisters::driver() {
  auto text = next(std::string(driver_key));
  if (!text) return propagate(text);
  auto info = parse_driver_info(*text);
  if (!info) {
    return fail(ErrorKind::corrupt, "not what a driver says of itself", std::string(driver_key));
  }
  return std::move(*info);
}

Status ReplayRegisters::wait(std::chrono::milliseconds /*time*/) {
  ++waits_;
  return {};
}

}  // namespace trainward::hwprobe
