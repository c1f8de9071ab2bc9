// Boards: what was found at the newest look, what they measure, and how their chips are linked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hwprobe/draw/drawing.hpp"
#include "hwprobe/report/report.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/decide/view/board_view.hpp"
#include "supervisor/decide/view/device_view.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/plot.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

constexpr std::size_t most_boards = 64;
constexpr std::size_t most_spark_points = 120;

std::string measured(const json::object& row, std::string_view key, std::string_view unit) {
  const auto number = get_number(row, key);
  return number && std::isfinite(*number) ? fmt::format("{:.0f} {}", *number, unit) : "-";
}

// The hottest of each piece of the time.
Html sparkline(const json::array& rows, const std::string& serial) {
  Extent extent;
  std::vector<double> hottest;
  const std::size_t stride = rows.size() / most_spark_points + 1;
  for (std::size_t i = 0; i < rows.size(); i += stride) {
    Extent piece;
    for (std::size_t j = i; j < std::min(i + stride, rows.size()); ++j) {
      if (!rows[j].is_object()) continue;
      if (const auto c = get_number(rows[j].get_object(), "temperature_c")) piece.add(*c);
    }
    if (piece.empty()) continue;
    hottest.push_back(piece.most());
    extent.add(piece.most());
  }
  if (hottest.size() < 2) return "-";
  const Scale x{0, static_cast<double>(hottest.size() - 1), 1, 119};
  const Scale y{extent.least() - 1, extent.most() + 1, 23, 1};
  std::string d;
  for (std::size_t i = 0; i < hottest.size(); ++i) {
    d += (i == 0 ? "M" : "L") + point(x(static_cast<double>(i)), y(hottest[i]));
  }
  const std::string words =
      fmt::format("{}: {:.0f} to {:.0f} °C", cut(serial, 40), extent.least(), extent.most());
  return join({element("svg",
                       {{"viewBox", "0 0 120 24"},
                        {"width", "120"},
                        {"height", "24"},
                        {"role", "img"},
                        {"aria-label", words}},
                       {element("path", {{"class", "line"}, {"d", d}})}),
               " ", muted(fmt::format("{:.0f} to {:.0f} °C", extent.least(), extent.most()))});
}

std::string errors_of(const json::object& row) {
  std::string text;
  for (const auto& [key, word] :
       {std::pair("aer_correctable", "correctable"), std::pair("aer_nonfatal", "not fatal"),
        std::pair("aer_fatal", "fatal")}) {
    const auto number = get_int(row, key);
    if (!number) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", views::grouped(*number), word);
  }
  return text.empty() ? "-" : text;
}

Html links_of(const json::object& probe) {
  const json::value* found = probe.if_contains("report");
  if (found == nullptr || !found->is_object()) return {};
  const auto report = hwprobe::report_from_json(*found);
  if (!report) return {};
  const std::string drawing = hwprobe::draw(hwprobe::make_graph(*report), false);
  if (drawing.empty() || drawing.size() > 20'000) return {};
  return join({element("h3", {}, {"Chips and links"}),
               element("pre",
                       {{"class", "excerpt"},
                        {"tabindex", "0"},
                        {"role", "region"},
                        {"aria-label", "chips and the links between them"}},
                       {drawing})});
}

Html devices_of(const Documents& documents) {
  Html content;
  views::for_each_row(documents.programs, [&](const json::object& row) {
    if (string_or(row, "name", "") != documents.view.program) return;
    const auto devices = views::device_table(views::list_in(row, "devices"));
    if (devices.rows.size() < 2) return;
    std::vector<Column> columns;
    for (const std::string& title : devices.columns) columns.push_back({title, !columns.empty()});
    Table table("What each device does, in the newest attempt that told", columns);
    for (const auto& cells : devices.rows) table.add({cells.begin(), cells.end()});
    content += join({element("h3", {}, {"Devices"}), table.html()});
  });
  return content;
}

}  // namespace

Html boards_section(const Documents& documents) {
  Table table("Boards, as the newest look found them", {{"board"},
                                                        {"verdict"},
                                                        {"temperature", true},
                                                        {"power", true},
                                                        {"clock", true},
                                                        {"PCIe errors"},
                                                        {"temperature, 6 h"},
                                                        {"type"},
                                                        {"bus"},
                                                        {"looked at"},
                                                        {"reason"}});
  std::size_t shown = 0;
  views::for_each_row(documents.boards, [&](const json::object& row) {
    if (shown++ >= most_boards) return;
    const std::string serial = string_or(row, "serial", "-");
    const views::BoardStanding standing = views::standing_of(row, documents.view.now_ms);
    const std::string verdict = cut(standing.verdict, 40);
    std::string heat = measured(row, "temperature_c", "°C");
    if (const auto limit = get_number(row, "limit_c"); limit && heat != "-") {
      heat += fmt::format(" of {:.0f}", *limit);
    }
    table.add({mono(cut(serial, 60)), toned(views::tone_of(verdict), verdict), heat,
               measured(row, "power_w", "W"), measured(row, "clock_mhz", "MHz"), errors_of(row),
               sparkline(views::list_in(documents.samples, serial), serial),
               cut(views::or_dash(string_or(row, "type", "")), 40),
               mono(cut(views::or_dash(string_or(row, "bus_id", "")), 40)),
               moment(int_or(row, "at_ms", 0)), cut(standing.reason, 300)});
  });
  if (table.empty()) {
    const Html none = element(
        "p", {}, {"No board has been looked at yet: the program needs none, or has not started."});
    return titled("boards", "Boards", join({none, devices_of(documents)}));
  }
  return titled("boards", "Boards",
                join({table.html(), devices_of(documents), links_of(documents.probe)}));
}

}  // namespace trainward::page
