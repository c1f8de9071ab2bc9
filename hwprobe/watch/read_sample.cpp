#include "hwprobe/watch/read_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/number_in.hpp"
#include "common/base/text.hpp"

namespace trainward::hwprobe {
namespace {

// hwmon counts in thousandths, power in millionths.
std::optional<double> scaled(Files& files, const std::string& file, double unit) {
  const auto number = files.number(file);
  if (!number) return std::nullopt;
  return static_cast<double>(*number) / unit;
}

std::optional<double> limit(Files& files, const std::string& file, double unit) {
  auto value = scaled(files, file, unit);
  if (value && *value <= 0) value.reset();  // none is set
  return value;
}

void read_sensors(Files& files, const std::string& device, Sample& sample) {
  const auto sensors = files.names(device + "/hwmon");
  if (!sensors) return;
  for (const std::string& name : *sensors) {
    const std::string folder = fmt::format("{}/hwmon/{}", device, name);
    sample.temperature_c = scaled(files, folder + "/temp1_input", 1000);
    if (!sample.temperature_c) continue;
    sample.limit_c = limit(files, folder + "/temp1_max", 1000);
    sample.voltage_v = scaled(files, folder + "/in0_input", 1000);
    sample.current_a = scaled(files, folder + "/curr1_input", 1000);
    sample.power_w = scaled(files, folder + "/power1_input", 1'000'000);
    sample.power_limit_w = limit(files, folder + "/power1_max", 1'000'000);
    return;
  }
}

// "RxErr 0\nBadTLP 3\n…\nTOTAL_ERR_COR 3": the sum is the last line.
std::optional<std::int64_t> total_errors(Files& files, const std::string& file) {
  const auto text = files.text(file);
  if (!text) return std::nullopt;
  const auto at = text->find("TOTAL_ERR_");
  if (at == std::string::npos) return std::nullopt;
  std::string_view line(*text);
  line.remove_prefix(at);
  line = line.substr(0, std::min(line.find('\n'), line.size()));
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto number = trainward::number_in<std::int64_t>(trim(line.substr(space)));
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

Sample read_sample(Files& files, const std::string& bus_id) {
  Sample sample;
  sample.board = bus_id;
  const std::string device = "/sys/bus/pci/devices/" + bus_id;
  // The kernel has it in memory: without it the device is gone.
  sample.present = files.number(device + "/vendor").has_value();
  if (!sample.present) return sample;
  sample.aer_correctable = total_errors(files, device + "/aer_dev_correctable");
  sample.aer_nonfatal = total_errors(files, device + "/aer_dev_nonfatal");
  sample.aer_fatal = total_errors(files, device + "/aer_dev_fatal");
  read_sensors(files, device, sample);
  return sample;
}

}  // namespace trainward::hwprobe
