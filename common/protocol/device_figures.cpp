#include "common/protocol/device_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"

namespace trainward {
namespace {

constexpr std::size_t max_name_bytes = 64;

static_assert(has_each_member<DeviceFigures>(device_figures));

std::string key_of(const DeviceFigure& figure) { return "DEVICES_" + message_key(figure.name); }

// Short, so that the lists of many fit into a message.
std::string number_of(const DeviceFigure& figure, double value) {
  return figure.unit == FigureUnit::bytes ? message_text(figure.unit, value)
                                          : fmt::format("{:.6g}", value);
}

// "[1.5,null,2]"; empty: nobody told it.
std::string list_of(const DeviceWindow& window, const DeviceFigure& figure) {
  std::string list;
  bool told = false;
  for (const ToldDevice& device : window.devices) {
    const auto value = value_at(device.figures, figure.member);
    const bool finite = value && std::isfinite(*value);
    told = told || finite;
    list += list.empty() ? "[" : ",";
    list += finite ? number_of(figure, *value) : "null";
  }
  return told ? list + "]" : "";
}

std::optional<json::array> list_in(const Message& message, std::string_view key) {
  const auto text = find(message, key);
  if (!text) return std::nullopt;
  auto parsed = parse_json(*text, key);
  if (!parsed || !parsed->is_array()) return std::nullopt;
  return std::move(parsed->get_array());
}

// Each is a label of metrics: none is empty, or another's.
std::string own_name(std::string name, const std::vector<ToldDevice>& before) {
  const bool taken = std::ranges::find(before, name, &ToldDevice::name) != before.end();
  if (!name.empty() && !taken) return name;
  return fmt::format("{}#{}", name, before.size());
}

}  // namespace

Message message_of(const DeviceWindow& window) {
  json::array names;
  for (const ToldDevice& device : window.devices) names.emplace_back(device.name);
  Message message{{"DEVICES", json::serialize(names)},
                  {"DEVICES_STEP", std::to_string(window.step)},
                  {"DEVICES_STEPS", std::to_string(window.steps)}};
  for (const DeviceFigure& figure : device_figures) {
    if (std::string list = list_of(window, figure); !list.empty()) {
      message.emplace_back(key_of(figure), std::move(list));
    }
  }
  return message;
}

std::optional<DeviceWindow> told_devices(const Message& message) {
  const auto names = list_in(message, "DEVICES");
  const auto step = find_int(message, "DEVICES_STEP");
  const auto steps = find_int(message, "DEVICES_STEPS");
  if (!names || names->empty() || names->size() > max_devices) return std::nullopt;
  if (!step || *step < 1 || *step > max_step) return std::nullopt;
  DeviceWindow window{*step, std::clamp<std::int64_t>(steps.value_or(1), 1, *step), {}};
  for (const json::value& name : *names) {
    if (!name.is_string()) return std::nullopt;
    const std::string_view text(name.get_string());
    window.devices.push_back({own_name(clean(text.substr(0, max_name_bytes)), window.devices), {}});
  }
  for (const DeviceFigure& figure : device_figures) {
    const auto list = list_in(message, key_of(figure));
    if (!list || list->size() != window.devices.size()) continue;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const json::value& value = (*list)[i];
      if (!value.is_number()) continue;
      const auto number = value.to_number<double>();
      if (can_be(figure.unit, number)) put_at(window.devices[i].figures, figure.member, number);
    }
  }
  return window;
}

}  // namespace trainward
