// A screen to draw: a run with a crash, boards, events and a log.
#pragma once

#include <cmath>
#include <string>

#include "supervisor/ctl/top/ui.hpp"

namespace trainward::ctl::top {

inline Curve sample_curve() {
  Curve curve;
  curve.from = 1;
  curve.to = 1000;
  curve.first_step = 1;
  curve.newest_step = 1000;
  curve.bucket_steps = 8;
  for (std::int64_t step = 0; step < 1000; step += 8) {
    const double loss = 2.0 + 6.0 * std::exp(-static_cast<double>(step) / 200.0);
    curve.points.push_back({step, loss - 0.2, loss + 0.2, loss, 8, 0, step < 600 ? 1 : 2, 0});
  }
  for (std::int64_t step = 600; step < 640; step += 8) curve.lost.push_back({step, 3.0});
  curve.attempts = {{1, 1, 640, "device_oom", true}, {2, 600, 1000, "", false}};
  curve.evaluations = {{400, 3.1}, {800, 2.4}};
  curve.checkpoints = {200, 400, 600, 800};
  return curve;
}

inline Snapshot sample_snapshot() {
  Snapshot shown;
  shown.clock = "21:41:07";
  shown.origin = Origin::daemon;
  shown.programs = {
      {"broken",
       looks::bad,
       "✖",
       "FATAL for 2 h at step 41,200 of 50,000: the disk is full; your action is needed.",
       "Free space on the disk, then: trainwardctl start broken",
       true,
       {}},
      {"trainer",
       looks::good,
       "▶",
       "RUNNING for 3 h, step 1,000 of 5,000, loss 2.040, effective 87 %; nothing to do.",
       "",
       false,
       {}}};
  shown.selected = "trainer";
  shown.curve = sample_curve();
  shown.ledgers = {{"run",
                    10'000,
                    0.87,
                    {{"stepping", "", 0.87},
                     {"replaying", "device_oom", 0.06},
                     {"loading", "", 0.04},
                     {"down", "device_oom", 0.03}}},
                   {"24 h", 9'000, 0.91, {{"stepping", "", 0.91}, {"saving", "", 0.09}}},
                   {"1 h", 3'600, 1, {{"stepping", "", 1}}}};
  shown.boards = {{"0100014511a1", "n300", "FAILED", "no heartbeat", looks::bad, {}, 75, {}, ""},
                  {"0100014511b2", "n300", "OK", "", looks::good, 54.2, 75, 120.4, ""}};
  shown.events = {{1, "21:40:58", 1, "exit", "attempt 1 ended: SIGKILL", ""},
                  {2, "21:40:59", 1, "verdict", "device_oom: Out of Memory", ""},
                  {3, "21:41:01", 2, "launch", "attempt 2 goes on from step 600", ""},
                  {4, "21:41:03", 2, "restart", "asked for", "uid 1000"}};
  shown.log = {
      "stdout",
      2,
      {"loading data", "step 998 loss 2.051", "step 999 loss 2.046", "step 1000 loss 2.040"}};
  return shown;
}

inline Ui sample_ui(Size size) {
  Ui ui;
  ui.size = size;
  ui.selected = "trainer";
  take(ui, sample_snapshot());
  return ui;
}

}  // namespace trainward::ctl::top
