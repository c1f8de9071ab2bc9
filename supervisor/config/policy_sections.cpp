#include <algorithm>
#include <optional>
#include <vector>

#include "common/yaml/scalar.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;

constexpr std::int64_t day_ms = 86'400'000;
constexpr std::int64_t kib = 1024;
constexpr std::int64_t tib = std::int64_t{1} << 40;
constexpr std::int64_t billion = 1'000'000'000;
constexpr yaml::DurationRange deadline_range{100, 30 * day_ms};

// A key that would say again, or otherwise, what another key says for our own worker.
void refuse_for_worker(MapReader& map, std::string_view key, std::string_view use_instead) {
  const yaml::Node* node = map.take(key);
  if (node == nullptr) return;
  map.report(key, *node, fmt::format("is for a 'command'; our own worker has {}", use_instead));
}

// As many as programs are placed on (hwprobe/topology/place.hpp).
constexpr std::int64_t most_chips = 32;

std::optional<Mesh> read_mesh_of_boards(MapReader& map) {
  const yaml::Node* list = map.take("mesh_shape");
  if (list == nullptr) return std::nullopt;
  std::vector<std::int64_t> sides;
  if (list->kind == yaml::Node::Kind::list && list->items.size() == 2) {
    for (const yaml::Node& item : list->items) {
      const auto side = yaml::parse_integer(item.text);
      const bool fits = item.kind == yaml::Node::Kind::scalar && side && *side >= 1;
      if (fits && *side <= most_chips) sides.push_back(*side);
    }
  }
  if (sides.size() == 2 && sides[0] * sides[1] <= most_chips) return Mesh{sides[0], sides[1]};
  std::string found;
  for (const yaml::Node& item : list->items) {
    const bool number = !item.secret && yaml::parse_integer(item.text);
    found += (found.empty() ? "" : ", ") + (number ? item.text : describe(item));
  }
  found = list->kind == yaml::Node::Kind::list ? "[" + found + "]" : describe(*list);
  map.report("mesh_shape", *list,
             fmt::format("expected [rows, columns] of at most {} chips, such as [2, 2]; found {}",
                         most_chips, found));
  return std::nullopt;
}

// A command is told which boards it has, and not that it is to do with fewer.
void read_smaller_meshes(MapReader& map, Program& program) {
  program.min_chips = map.integer("min_chips", program.min_chips, {1, most_chips});
  program.grow_after_ms = map.duration_ms("grow_after", program.grow_after_ms, {100, 30 * day_ms});
}

void read_board(MapReader& map, const Folders& folders, Program& program) {
  program.needs_board = map.boolean("required", true);
  constexpr std::int64_t hour_ms = 3'600'000;
  program.sample_every_ms = map.duration_ms("sample_every", program.sample_every_ms, {0, hour_ms});
  if (const auto* every = map.node().find("sample_every");
      every != nullptr && program.sample_every_ms > 0 && program.sample_every_ms < 100) {
    map.report("sample_every", *every, "expected 100ms to 1h, or 0s for no samples at all");
  }
  program.mesh = read_mesh_of_boards(map);
  const bool own = program.command.empty();
  if (own) {
    read_smaller_meshes(map, program);
    refuse_for_worker(map, "host", "device_config.host");
  } else {
    program.host = read_described_host(map, folders);
  }
  // A described board needs none.
  const std::int64_t rest_ms = program.host ? 0 : program.rest_ms;
  program.rest_ms = map.duration_ms("rest_after_reset", rest_ms, {0, hour_ms});
}

void read_checkpoints(MapReader& map, Program& program) {
  program.checkpoints_keep =
      static_cast<int>(map.integer("keep", program.checkpoints_keep, {1, 1000}));
  program.checkpoints_keep_every =
      map.integer("keep_every", program.checkpoints_keep_every, {0, billion});
  program.cadence.adaptive = map.boolean("adaptive", program.cadence.adaptive);
  program.saves_when_asked = map.boolean("on_stop", program.saves_when_asked);
  program.prunes_foreign = map.boolean("foreign", program.prunes_foreign);
  if (program.prunes_foreign && program.watch.checkpoints.empty()) {
    map.report("foreign", *map.node().find("foreign"),
               "is about what watch.checkpoints finds, and there is no such pattern");
  }
  if (program.command.empty()) {
    refuse_for_worker(map, "every", "training_config.checkpoint_every");
  } else {
    program.cadence.max_steps = map.integer("every", program.cadence.max_steps, {1, billion});
  }
}

// What is right for most programs that are watched in this way, once `load` and `compile` are
// known.
void presume(const Program& program, Deadlines& d) {
  // The first sign of a program seen only through its files is a finished step: by then it has
  // loaded and compiled.
  if (!program.watch.protocol && watches_files(program.watch)) d.start_ms = d.compile_ms;
  // Nobody has said how long its evaluations and saves take, of which its output may say nothing.
  const bool unknown = !program.command.empty() && is_only_recognised(program.watch);
  if (unknown && !program.watch.cpu_time) d.train_floor_ms = std::max(d.train_floor_ms, d.load_ms);
  // What is to run for ever is a service, and a service may have nothing to do.
  const bool service = !program.command.empty() && program.autorestart == Autorestart::always;
  if (service) d.silence_ms = 0;
}

void read_deadlines(MapReader& map, const Program& program, Deadlines& d, std::int64_t& settle_ms) {
  d.load_ms = map.duration_ms("load", d.load_ms, deadline_range);
  d.compile_ms = map.duration_ms("compile", d.compile_ms, deadline_range);
  presume(program, d);
  d.start_ms = map.duration_ms("start", d.start_ms, deadline_range);
  d.train_floor_ms = map.duration_ms("train_floor", d.train_floor_ms, deadline_range);
  d.save_ms = map.duration_ms("save", d.save_ms, deadline_range);
  d.silence_ms = map.duration_ms("silence", d.silence_ms, {0, 30 * day_ms});
  d.evaluate_ms = map.duration_ms("evaluate", d.evaluate_ms, deadline_range);
  d.stop_ms = map.duration_ms("stop", d.stop_ms, deadline_range);
  d.reset_ms = map.duration_ms("reset", d.reset_ms, deadline_range);
  settle_ms = map.duration_ms("settle", settle_ms, deadline_range);
}

void read_budgets(MapReader& map, Budgets& b) {
  b.attempts = static_cast<int>(map.integer("attempts", b.attempts, {1, 1'000'000}));
  b.attempts_without_progress = static_cast<int>(
      map.integer("attempts_without_progress", b.attempts_without_progress, {1, 1'000'000}));
  b.time_without_progress_ms =
      map.duration_ms("time_without_progress", b.time_without_progress_ms, {60'000, 365 * day_ms});
}

void read_backoff(MapReader& map, Backoff& b) {
  b.first_ms = map.duration_ms("first", b.first_ms, {0, day_ms});
  // The default maximum follows a longer first wait up; only a stated one can contradict it.
  b.max_ms = map.duration_ms("max", std::max(b.max_ms, b.first_ms), {0, day_ms});
  if (b.max_ms < b.first_ms) {
    map.report("max", *map.node().find("max"), "is shorter than backoff.first");
  }
}

void read_plan(MapReader& map, Program& program) {
  core::Shrinking& s = program.shrinking;
  const bool own = program.command.empty();
  if (own) {
    refuse_for_worker(map, "block", "training_config.block_size");
    refuse_for_worker(map, "batch", "training_config.batch_size");
  } else {
    s.block = map.integer("block", s.block, {1, billion});
    s.batch = map.integer("batch", s.batch, {1, billion});
  }
  s.min_block = map.integer("min_block", s.min_block, {0, billion});
  s.recompute = map.boolean("recompute", s.recompute);
  s.accumulate = map.boolean("accumulate", s.accumulate);
  if (s.min_block > s.block) {
    map.report("min_block", *map.node().find("min_block"),
               s.block == 0 ? "needs plan.block, which is to be halved"
                            : fmt::format("is above the configured block of {}", s.block));
  }
  if (!own && s.accumulate && s.batch == 0) {
    map.report("accumulate", *map.node().find("accumulate"),
               "needs plan.batch, which is to be split");
  }
}

void read_steps(MapReader& map, Program& program) {
  constexpr std::int64_t least = 1'000;
  program.steps_keep = map.integer("keep", program.steps_keep, {0, 1000 * billion});
  if (program.steps_keep > 0 && program.steps_keep < least) {
    map.report("keep", *map.node().find("keep"),
               fmt::format("expected at least {}, or 0 to keep every step", least));
  }
}

void read_quarantine(MapReader& map, core::Quarantine& q) {
  q.faults = static_cast<int>(map.integer("faults", q.faults, {1, 1000}));
  q.within_ms = map.duration_ms("within", q.within_ms, {1000, 365 * day_ms});
  q.for_ms = map.duration_ms("for", q.for_ms, {1000, 365 * day_ms});
  q.max_ms = map.duration_ms("max", std::max(q.max_ms, q.for_ms), {1000, 365 * day_ms});
  if (q.max_ms < q.for_ms) {
    map.report("max", *map.node().find("max"), "is shorter than quarantine.for");
  }
}

}  // namespace

void read_policy_sections(MapReader& reader, const Folders& folders, Program& program) {
  in_section(reader, "board", [&](MapReader& map) { read_board(map, folders, program); });
  in_section(reader, "checkpoints", [&](MapReader& map) { read_checkpoints(map, program); });
  presume(program, program.deadlines);
  in_section(reader, "deadlines", [&](MapReader& map) {
    read_deadlines(map, program, program.deadlines, program.settle_ms);
  });
  in_section(reader, "budgets", [&](MapReader& map) { read_budgets(map, program.budgets); });
  in_section(reader, "backoff", [&](MapReader& map) { read_backoff(map, program.backoff); });
  in_section(reader, "plan", [&](MapReader& map) { read_plan(map, program); });
  in_section(reader, "rollback", [&](MapReader& map) {
    program.rollback.loss_spike = map.boolean("loss_spike", program.rollback.loss_spike);
    program.rollback.tries =
        static_cast<int>(map.integer("tries", program.rollback.tries, {0, 1000}));
  });
  in_section(reader, "quarantine",
             [&](MapReader& map) { read_quarantine(map, program.quarantine); });
  in_section(reader, "logs", [&](MapReader& map) {
    program.log_max_bytes = map.size_bytes("max_size", program.log_max_bytes, {64 * kib, tib});
    program.log_keep = static_cast<int>(map.integer("keep", program.log_keep, {1, 1000}));
  });
  in_section(reader, "steps", [&](MapReader& map) { read_steps(map, program); });
  in_section(reader, "limits", [&](MapReader& map) {
    program.memory_limit_bytes =
        map.size_bytes("memory", program.memory_limit_bytes, {16 * kib * kib, 1024 * tib});
    read_resource_limits(map, program);
  });
}

}  // namespace trainward::config
