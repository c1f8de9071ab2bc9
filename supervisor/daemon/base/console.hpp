// What `trainwardd --once` shows: a line per event, and on a terminal one live line below them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "common/base/time.hpp"
#include "common/protocol/worker_sample.hpp"

namespace trainward::daemon {

struct Progress {
  std::string program;
  std::string state;
  std::int64_t attempt = 0;
  std::int64_t step = 0;
  std::int64_t target = 0;          // 0: unknown
  std::optional<double> loss = {};  // shown as "-" when nobody told it
  std::optional<double> tokens_per_second = {};
};

class Console {
 public:
  // `enabled` false: prints nothing. On a terminal no line is longer than it is wide, and the live
  // line is redrawn at most ten times a second; elsewhere a plain line is printed every 25 steps.
  // `out` is borrowed.
  explicit Console(bool enabled, std::FILE* out = stdout);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void event(const std::string& program, const std::string& kind, const std::string& text, Time at);
  void progress(const Progress& progress, Time at);
  // What the model says, in a line; `trainwardctl report` has the newest whole.
  void sample(const std::string& program, const WorkerSample& said, Time at);
  // What the end is waited with: "upload trainer/hub, 40 %", and so many besides. A plain line is
  // printed when it is another one, and every ten seconds.
  void waiting(const std::string& what, std::size_t others, Time at);

 private:
  void erase_line();
  void print_line(const std::string& line);
  void draw(const std::string& line);
  [[nodiscard]] std::string fitted(const std::string& line) const;
  bool enabled_;
  std::FILE* out_;
  bool terminal_;
  bool line_drawn_ = false;
  MonoTime drawn_at_;
  std::int64_t plain_step_ = 0;
  std::string waited_for_;
};

}  // namespace trainward::daemon
