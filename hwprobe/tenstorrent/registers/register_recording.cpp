#include "hwprobe/tenstorrent/registers/register_recording.hpp"

#include <fmt/format.h>

#include "hwprobe/tenstorrent/registers/read_error.hpp"
#include "hwprobe/tenstorrent/registers/register_keys.hpp"

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
