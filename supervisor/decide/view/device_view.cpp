#include "supervisor/decide/view/device_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "common/base/text.hpp"
#include "common/protocol/device_figures.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::views {
namespace {

// Of the attempt so far, as v_devices has them.
constexpr auto shares = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"compute_share", "computing"},
     {"collective_share", "exchanging"},
     {"input_wait_share", "waiting for data"}});

bool any_has(const json::array& devices, std::string_view key) {
  return std::ranges::any_of(devices, [&](const json::value& device) {
    return device.is_object() && get_number(device.get_object(), key);
  });
}

std::string name_of(const json::object& device) {
  return clean(or_dash(string_or(device, "name", "")));
}

}  // namespace

DeviceTable device_table(const json::array& devices) {
  DeviceTable table{{"device"}, {}};
  for_each_row(devices,
               [&](const json::object& device) { table.rows.push_back({name_of(device)}); });
  const auto add = [&](std::string_view key, std::string_view title, auto text) {
    if (!any_has(devices, key)) return;
    table.columns.emplace_back(title);
    std::size_t i = 0;
    for_each_row(devices, [&](const json::object& device) {
      const auto value = get_number(device, key);
      table.rows[i++].push_back(value ? text(*value) : "-");
    });
  };
  for (const DeviceFigure& figure : device_figures) {
    add(figure.name, figure.title, [&](double value) { return unit_text(figure.unit, value); });
  }
  for (const auto& [key, title] : shares) add(key, title, percent);
  return table;
}

std::string devices_text(const json::array& devices) {
  if (devices.size() < 2) return {};
  std::string text = count(std::ssize(devices), "device");
  const json::object* slowest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  double exchanged = 0;
  for_each_row(devices, [&](const json::object& device) {
    exchanged = std::max(exchanged, number_or(device, "collective_share", 0));
    const auto ms = get_number(device, "compute_ms");
    if (!ms) return;
    least = std::min(least, *ms);
    if (slowest != nullptr && *ms <= most) return;
    most = *ms;
    slowest = &device;
  });
  if (slowest != nullptr && least > 0) {
    text += fmt::format(", the slowest ({}) computes {:.2f} times as long as the fastest",
                        name_of(*slowest), most / least);
  }
  if (exchanged > 0) text += fmt::format(", exchange up to {} of the time", percent(exchanged));
  return text;
}

}  // namespace trainward::views
