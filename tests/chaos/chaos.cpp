// A standing attack on the real programs (docs/chaos.md): faults of every kind at random for some
// time, drawn from a seed; then everything is healed, ended and held against what the workers
// counted themselves.
//
// Exit codes: 0 everything held, 1 something broke, 2 wrong use, 77 it cannot be tried here.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>

#include "attack.hpp"
#include "processes.hpp"

namespace {

using namespace trainward::chaos;

struct Arguments {
  std::int64_t seconds = 30;
  std::uint64_t seed = 0;
  std::vector<std::string> without;
  std::vector<std::string> only;
  bool list = false;
  bool keep = false;
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<Kind> chosen(const Arguments& arguments) {
  std::vector<Kind> kinds;
  for (const Kind kind : all_kinds()) {
    const std::string_view name = name_of(kind);
    if (!arguments.only.empty() && !contains(arguments.only, name)) continue;
    if (!contains(arguments.without, name)) kinds.push_back(kind);
  }
  return kinds;
}

bool needs_preload(Kind kind) {
  return kind == Kind::read_only || kind == Kind::no_watches || kind == Kind::clock ||
         kind == Kind::suspend;
}

// A sanitizer reserves terabytes of address space: no limit on it says anything.
bool possible(Kind kind, const Arena& arena) {
  if (kind == Kind::disk_full) return arena.has_disk();
  if (kind == Kind::no_memory) return arena.control() != nullptr;
  return !needs_preload(kind) || arena.control() != nullptr;
}

void end_everything(const Arena& arena) {
  for (int round = 0; round < 3; ++round) {
    for (const Process& process : descendants()) ::kill(process.pid, SIGKILL);
    ::usleep(100'000);
  }
  for (const auto& group : cgroups_of(arena)) ::rmdir(group.c_str());
}

void report(const Attack& attack, const Figures& f) {
  fmt::print(
      "{} faults, {} starts of trainwardd; {} attempts, {} heartbeats, {} lines of log\n"
      "  {} lines and {} heartbeats were dropped and owned up to; {} attempts were decided on and "
      "never launched, because the daemon ended\n"
      "  API: {} answers, the slowest after {} ms; loop latency {:.1f} ms (p99), {:.1f} ms at "
      "most\n"
      "  the slowest recovery took {} ms\n"
      "  trainwardd: descriptors {} before, {} after; memory {} KiB before, {} KiB after\n",
      f.faults, f.daemon_starts, f.audited.attempts, f.audited.steps, f.audited.lines,
      f.audited.dropped_lines, f.audited.dropped_messages, f.audited.never_launched, f.api_answers,
      f.slowest_answer_ms, f.loop.p99, f.loop.most, f.slowest_recovery_ms, f.descriptors_before,
      f.descriptors_after, f.memory_before_kib, f.memory_after_kib);
  fmt::print("{}\n", attack.problems().empty() ? "everything held" : "BROKEN");
}

int run(const Arguments& arguments) {
  auto arena = Arena::make(arguments.seconds);
  if (!arena) {
    fmt::print(stderr, "chaos: {}\n", arena.error().message());
    return 77;
  }
  std::vector<Kind> kinds = chosen(arguments);
  for (const Kind kind : kinds) {
    if (!possible(kind, *arena)) fmt::print("left out, not possible here: {}\n", name_of(kind));
  }
  std::erase_if(kinds, [&](Kind kind) { return !possible(kind, *arena); });
  const auto faults = draw(arguments.seed, arguments.seconds * 1'000, kinds);
  fmt::print("seed {}, {} s, {} faults of {} kinds, in {}\n", arguments.seed, arguments.seconds,
             faults.size(), kinds.size(), arena->folder().string());
  std::fflush(stdout);
  Attack attack(*arena, faults);
  attack.run();
  if (attack.problems().empty()) {
    report(attack, attack.figures());
    if (!arguments.keep) arena->remove();
    return 0;
  }
  fmt::print("the last faults before it:\n");
  for (std::size_t i = attack.inflicted() > 40 ? attack.inflicted() - 40 : 0;
       i < attack.inflicted(); ++i) {
    fmt::print("  {}\n", text_of(faults[i]));
  }
  report(attack, attack.figures());
  end_everything(*arena);
  arena->keep();
  fmt::print("what it left lies in {}; again with --seconds {} --seed {}\n",
             arena->folder().string(), arguments.seconds, arguments.seed);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  arguments.seed = std::random_device()();
  CLI::App app{"A standing attack on trainwardd and all it starts (docs/chaos.md)."};
  app.add_option("--seconds", arguments.seconds, "how long")
      ->envname("TRAINWARD_CHAOS_SECONDS")
      ->check(CLI::Range(std::int64_t{5}, std::int64_t{1'000'000}));
  app.add_option("--seed", arguments.seed, "same seed, same faults; without it a new one")
      ->envname("TRAINWARD_CHAOS_SEED");
  app.add_option("--without", arguments.without, "kinds of fault to leave out")
      ->delimiter(',')
      ->envname("TRAINWARD_CHAOS_WITHOUT");
  app.add_option("--only", arguments.only, "these kinds of fault alone")->delimiter(',');
  app.add_flag("--list", arguments.list, "print the faults that would be inflicted, and end");
  app.add_flag("--keep", arguments.keep, "keep the folder although everything held");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const auto& name : {arguments.without, arguments.only}) {
    for (const std::string& one : name) {
      const auto& all = all_kinds();
      if (std::none_of(all.begin(), all.end(), [&](Kind kind) { return name_of(kind) == one; })) {
        fmt::print(stderr, "chaos: no such kind of fault: {}; --list shows some\n", one);
        return 2;
      }
    }
  }
  if (!arguments.list) return run(arguments);
  for (const Fault& fault : draw(arguments.seed, arguments.seconds * 1'000, chosen(arguments))) {
    fmt::print("{}\n", text_of(fault));
  }
  return 0;
}
