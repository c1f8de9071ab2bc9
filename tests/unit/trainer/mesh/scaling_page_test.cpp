// docs/scaling.md shows what the formulas say: every table there is made again and compared.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include "known.hpp"
#include "trainer/mesh/all_reduce.hpp"
#include "trainer/mesh/row_sums.hpp"
#include "trainer/mesh/step_share.hpp"

namespace trainward::mesh {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using Rows = std::vector<std::string>;

std::string page() {
  std::ostringstream text;
  text << std::ifstream(SOURCE_FOLDER "/docs/scaling.md").rdbuf();
  return text.str();
}

// The rows of the table with this head.
Rows rows_of(const std::string& head) {
  Rows rows;
  const std::string text = page();
  const std::size_t at = text.find(head);
  if (at == std::string::npos) return rows;
  std::istringstream lines(text.substr(at));
  std::string line;
  std::getline(lines, line);  // the head
  std::getline(lines, line);  // what parts it from the rows
  while (std::getline(lines, line) && line.starts_with("|")) rows.push_back(line);
  return rows;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string percent(double share) {
  return share < 0.001 ? "< 0.1 %" : fmt::format("{:.1f} %", share * 100);
}

struct Model {
  const char* name;
  std::int64_t parameters;
};
// GPT-2 with its own vocabulary; AGILLM-3's large with 128,815 tokens, of which only the
// autoregressive half is trained.
constexpr Model models[] = {
    {"gpt2", 124'439'808}, {"gpt2_medium", 354'823'168}, {"large", 566'351'663}};

struct Place {
  const Fabric& fabric;
  Mesh mesh;
};
const Place places[] = {{n300, {1, 2}}, {t3k, {2, 4}}, {galaxy, {4, 8}}};

// What the page assumes of a step, in its words; n300.md has the peak.
constexpr double peak = 65e12;
constexpr double reached = 0.20;
constexpr double tokens = 4096;
constexpr const char* assumed =
    "4,096 tokens a chip in each step, 65 TFLOP/s a chip of which 20 % are reached, 6 operations a "
    "parameter and token, two thirds of them in the backward pass";

StepWork work_of(const Model& model, bool overlapped) {
  const double compute = 6 * static_cast<double>(model.parameters) * tokens / (peak * reached);
  return {.compute_seconds = compute,
          .backward_seconds = overlapped ? compute * 2 / 3 : 0,
          .gradient_bytes = 4 * model.parameters};
}

TEST(ScalingPage, TheRatesOfTheLinks) {
  Rows rows;
  for (const Fabric& fabric : fabrics) {
    rows.push_back(fmt::format("| {} | {} | {} | {:.3g} | {:.3g} | {:.3g} | {} |", fabric.name,
                               fabric.links_an_edge, fabric.links_an_edge - fabric.reserved,
                               fabric.pair.bytes_per_second / 1e9,
                               fabric.line.bytes_per_second / 1e9,
                               fabric.ring.bytes_per_second / 1e9, to_string(fabric.line.source)));
  }
  EXPECT_THAT(rows_of("| machine | links of an edge |"), ElementsAreArray(rows));
}

TEST(ScalingPage, TheFormulas) {
  const Latency& latency = t3k.latency;
  EXPECT_THAT(
      rows_of("| sum | time |"),
      testing::IsSupersetOf(
          {fmt::format("| line | {:.2f} µs + {:.2f} µs × (N − 1) + 2 (N − 1) / N × S / rate |",
                       latency.start * 1e6, latency.line_hop * 1e6),
           fmt::format("| ring | {:.2f} µs + {:.2f} µs × N / 2 + 2 (N − 1) / N × S / rate |",
                       latency.start * 1e6, latency.ring_hop * 1e6)}));
  const double times =
      choose({1, 8}, t3k, gradients).cost.seconds / choose({2, 4}, t3k, gradients).cost.seconds;
  EXPECT_THAT(page(), HasSubstr(fmt::format(
                          "`[1, 8]` on a T3K costs {:.1f} times as much as `[2, 4]`", times)));
}

TEST(ScalingPage, TheFormulasBesideTheMeasurements) {
  struct Point {
    const char* what;
    const char* size;
    const char* shown;
    double measured;
    double formula;
  };
  const Point points[] = {
      {"2 chips", "64 KiB", "24 µs", 24e-6, line(2, t3k, 64 * kib).seconds},
      {"2 chips", "1 MiB", "163 µs", 163e-6, line(2, t3k, mib).seconds},
      {"2 chips", "16 MiB", "2.28 ms", 2.28e-3, line(2, t3k, 16 * mib).seconds},
      {"ring of 8", "1 MiB", "151 µs", 151e-6, ring(8, t3k, mib).seconds},
      {"ring of 8", "16 MiB", "1.62 ms", 1.62e-3, ring(8, t3k, 16 * mib).seconds},
      {"ring of 8", "1 GiB", "104.5 ms", 104.5e-3, ring(8, t3k, gib).seconds},
  };
  Rows rows;
  for (const Point& point : points) {
    rows.push_back(fmt::format("| {} | {} | {} | {} | {:.0f} % |", point.what, point.size,
                               point.shown, time_text(point.formula),
                               std::abs(point.formula / point.measured - 1) * 100));
  }
  EXPECT_THAT(rows_of("| T3K | data | measured |"), ElementsAreArray(rows));
}

TEST(ScalingPage, TheWaysToSum) {
  Rows rows;
  for (const Place& place : {places[1], places[2]}) {
    rows.push_back(fmt::format(
        "| {} [{},{}] | {} | {} | {} |", place.fabric.name, place.mesh.rows, place.mesh.columns,
        time_text(line(place.mesh.devices(), place.fabric, gradients).seconds),
        time_text(rows_then_columns(place.mesh, place.fabric, gradients).seconds),
        time_text(ring(place.mesh.devices(), place.fabric, gradients).seconds)));
  }
  EXPECT_THAT(rows_of("| 1.4 GB on | line |"), ElementsAreArray(rows));
}

TEST(ScalingPage, TheTimeOfASum) {
  Rows rows;
  for (const Model& model : models) {
    const std::int64_t bytes = 4 * model.parameters;
    std::string row =
        fmt::format("| `{}` | {:.0f} | {:.2f} |", model.name,
                    static_cast<double>(model.parameters) / 1e6, static_cast<double>(bytes) / 1e9);
    for (const Place& place : places) {
      row += fmt::format(" {} |", time_text(choose(place.mesh, place.fabric, bytes).cost.seconds));
    }
    rows.push_back(row);
  }
  EXPECT_THAT(rows_of("| model | million parameters |"), ElementsAreArray(rows));
}

TEST(ScalingPage, TheShareOfAStep) {
  EXPECT_THAT(page(), HasSubstr(assumed));
  Rows rows;
  for (const Model& model : models) {
    std::string row =
        fmt::format("| `{}` | {} |", model.name, time_text(work_of(model, false).compute_seconds));
    for (const Place& place : places) {
      row += fmt::format(" {}, {} |",
                         percent(step_share(work_of(model, false), place.mesh, place.fabric).share),
                         percent(step_share(work_of(model, true), place.mesh, place.fabric).share));
    }
    rows.push_back(row);
  }
  EXPECT_THAT(rows_of("| model | compute of a step |"), ElementsAreArray(rows));
}

TEST(ScalingPage, TheShareWithAccumulation) {
  std::string row = "| `gpt2_medium`, T3K [2,4] |";
  for (const std::int64_t micro_batches : {1, 2, 4, 8, 16}) {
    const StepWork work = accumulated(work_of(models[1], false), micro_batches);
    row += fmt::format(" {} |", percent(step_share(work, places[1].mesh, t3k).share));
  }
  EXPECT_THAT(rows_of("| accumulation | 1 |"), ElementsAreArray(Rows{row}));
}

// Of a block of 12 width² parameters: two sums forward and two backward.
TEST(ScalingPage, WhatDividedWeightsCostAndSave) {
  Rows rows;
  for (const std::int64_t width : {512, 1024, 2048, 4096}) {
    const auto w = static_cast<double>(width);
    const double alone = 6 * 12 * w * w * tokens / (peak * reached);
    std::string row = fmt::format("| {} | {} |", width, time_text(alone));
    for (const Place& place : places) {
      const std::int64_t bytes = 4 * static_cast<std::int64_t>(tokens) * width;
      const RowSums sums = row_sums({place.mesh.columns, 4, bytes, alone}, place.fabric);
      row += fmt::format(" {}, {} |", time_text(sums.sum_seconds), time_text(sums.saved_seconds));
    }
    rows.push_back(row);
  }
  EXPECT_THAT(rows_of("| width | a block on one chip |"), ElementsAreArray(rows));
}

TEST(ScalingPage, TheTimeBetweenHosts) {
  struct Network {
    const char* name;
    double rate;
  };
  constexpr Network networks[] = {{"1 GbE (0.117 GB/s)", 0.117e9},
                                  {"10 GbE (1.15 GB/s)", 1.15e9},
                                  {"100 GbE (11.5 GB/s)", 11.5e9}};
  Rows rows;
  for (const auto& [name, rate] : networks) {
    std::string row = fmt::format("| {} |", name);
    for (const std::int64_t hosts : {2, 4, 8, 16}) {
      row +=
          fmt::format(" {:.2f} s |", choose({1, hosts}, network(rate, 0), gradients).cost.seconds);
    }
    rows.push_back(row);
  }
  EXPECT_THAT(rows_of("| 1.4 GB over | 2 hosts |"), ElementsAreArray(rows));
}

}  // namespace
}  // namespace trainward::mesh
