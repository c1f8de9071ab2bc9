// How a program is looked after: the sections, and the policy the core gets from them.
#include <gmock/gmock.h>

#include "fixture.hpp"
#include "supervisor/config/program_policy.hpp"

namespace trainward::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigPolicy : public ConfigTest {
 protected:
  core::Policy policy(const std::string& program) const {
    const auto config = load_text("programs:\n  a:\n" + program);
    EXPECT_TRUE(config) << config.error().front().text();
    return config ? policy_of(config->programs.at(0)) : core::Policy{};
  }
};

TEST_F(ConfigPolicy, OurWorkerSpeaksSavesAndTakesItsWorkFromItsOwnSection) {
  const auto p = policy("    training_config: {batch_size: 4, block_size: 64}\n");
  EXPECT_TRUE(p.speaks);
  EXPECT_TRUE(p.keeps_checkpoints);
  EXPECT_TRUE(p.saves_when_asked);
  EXPECT_FALSE(p.can_reset);
  EXPECT_FALSE(p.watch_cpu);
  EXPECT_EQ(p.shrinking, (core::Shrinking{4, 64, 0, false, false}));
  EXPECT_EQ(p.cadence, (core::Cadence{true, 10}));
  EXPECT_EQ(p.deadlines, core::Deadlines{});
  EXPECT_EQ(p.budgets, core::Budgets{});
}

TEST_F(ConfigPolicy, ReadsEveryKey) {
  const auto config = load_text(R"(programs:
  a:
    command: [train]
    reset_command: [tt-smi, -r, "{bus_id}", "--serial={serial}"]
    checkpoints: {keep: 2, keep_every: 5000, adaptive: false, on_stop: true, every: 50}
    plan: {block: 1024, batch: 8, min_block: 128, recompute: true, accumulate: true}
    rollback: {loss_spike: false, tries: 0}
    quarantine: {faults: 2, within: 1h, for: 2h, max: 3h}
    budgets: {time_without_progress: 5h}
    logs: {max_size: 1MiB, keep: 9}
    steps: {keep: 200000}
    limits: {memory: 8GiB}
)");
  ASSERT_TRUE(config) << config.error().front().text();
  const Program& program = config->programs[0];
  const core::Policy p = policy_of(program);
  EXPECT_TRUE(p.can_reset);
  EXPECT_EQ(program.reset_command[2].fill({{"bus_id", "0000:41:00.0"}}).text, "0000:41:00.0");
  EXPECT_EQ(program.checkpoints_keep, 2);
  EXPECT_EQ(program.checkpoints_keep_every, 5000);
  EXPECT_EQ(p.cadence, (core::Cadence{false, 50}));
  EXPECT_TRUE(p.saves_when_asked);
  EXPECT_EQ(p.shrinking, (core::Shrinking{8, 1024, 128, true, true}));
  EXPECT_EQ(p.rollback, (core::Rollback{false, 0}));
  EXPECT_EQ(p.quarantine, (core::Quarantine{2, 3'600'000, 7'200'000, 10'800'000}));
  EXPECT_EQ(p.budgets.time_without_progress_ms, 18'000'000);
  EXPECT_EQ(program.log_max_bytes, 1 << 20);
  EXPECT_EQ(program.log_keep, 9);
  EXPECT_EQ(program.steps_keep, 200'000);
  EXPECT_EQ(program.memory_limit_bytes, std::int64_t{8} << 30);
}

TEST_F(ConfigPolicy, ACommandGetsABoardWhenItAsksForOne) {
  EXPECT_FALSE(policy("    command: [train]\n").needs_board);
  EXPECT_TRUE(policy("    command: [train]\n    board: {}\n").needs_board);
  EXPECT_FALSE(policy("    command: [train]\n    board: {required: false}\n").needs_board);
  write("host.yaml", "boards: []\n");
  const auto config = load_text("programs:\n  a: {command: [train], board: {host: host.yaml}}\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_EQ(config->programs[0].host, folder_ / "host.yaml");
  EXPECT_THAT(wrong("board: {host: host.yaml}"),
              ElementsAre(HasSubstr("our own worker has device_config.host")));
  EXPECT_THAT(problems("programs:\n  a: {command: [train], board: {host: none.yaml}}\n"),
              ElementsAre(HasSubstr("no such file")));
}

TEST_F(ConfigPolicy, ABoardIsSampledEveryTenSecondsUnlessToldOtherwise) {
  const auto every = [this](const std::string& board) {
    const auto config = load_text("programs:\n  a: {command: [train]" + board + "}\n");
    return config ? config->programs[0].sample_every_ms : -1;
  };
  EXPECT_EQ(every(""), 10'000);
  EXPECT_EQ(every(", board: {sample_every: 1min}"), 60'000);
  EXPECT_EQ(every(", board: {sample_every: 0s}"), 0);
  EXPECT_EQ(every(", board: {sample_every: 99ms}"), -1);
  EXPECT_EQ(every(", board: {sample_every: 2h}"), -1);
  EXPECT_THAT(problems("programs:\n  a: {command: [train], board: {sample_every: 5ms}}\n"),
              ElementsAre(HasSubstr("expected 100ms to 1h")));
}

TEST_F(ConfigPolicy, AServiceMayHaveNothingToDo) {
  const auto silence = [this](const std::string& more) {
    return policy("    command: [serve]\n" + more).deadlines.silence_ms;
  };
  EXPECT_EQ(silence(""), 1'800'000);
  EXPECT_EQ(silence("    autorestart: always\n"), 0);
  EXPECT_EQ(silence("    autorestart: always\n    deadlines: {silence: 5min}\n"), 300'000);
}

TEST_F(ConfigPolicy, HowACommandEnds) {
  const auto ending =
      policy("    command: [train]\n    stop_signal: sigint\n    exit_codes: [2, 0]\n");
  EXPECT_EQ(ending.stop_signal, SIGINT);
  EXPECT_THAT(ending.done_codes, ElementsAre(0, 2));
  const auto one = policy("    command: [train]\n    exit_codes: 3\n");
  EXPECT_THAT(one.done_codes, ElementsAre(3));
  EXPECT_EQ(one.stop_signal, SIGTERM);
  EXPECT_THAT(
      problems("programs:\n  a: {command: [train], stop_signal: STOP, exit_codes: [256]}\n"),
      ElementsAre(HasSubstr("expected TERM, INT, HUP, QUIT, USR1, USR2 or KILL"),
                  HasSubstr("expected exit codes from 0 to 255")));
  EXPECT_THAT(problems("programs:\n  a: {exit_codes: [0]}\n"),
              ElementsAre(HasSubstr("is for a 'command'")));
}

TEST_F(ConfigPolicy, ACommandIsJudgedByWhatItIsWatchedBy) {
  const auto silent = policy("    command: [train]\n");
  EXPECT_FALSE(silent.speaks);
  EXPECT_FALSE(silent.watch_cpu);
  EXPECT_FALSE(silent.keeps_checkpoints);
  EXPECT_FALSE(silent.saves_when_asked);
  EXPECT_EQ(silent.deadlines.train_floor_ms, silent.deadlines.load_ms)
      << "nobody has said how long its saves and evaluations take";
  EXPECT_TRUE(silent.foreign) << "its silence alone proves nothing";
  EXPECT_FALSE(silent.rollback.loss_spike) << "nor that its loss is one that falls";
  const auto floor = policy("    command: [train]\n    deadlines: {train_floor: 2s}\n");
  EXPECT_EQ(floor.deadlines.train_floor_ms, 2'000);
  const auto named = policy("    command: [train]\n    watch: {preset: nanogpt}\n");
  EXPECT_FALSE(named.speaks) << "it is watched from its first step on";
  EXPECT_EQ(named.deadlines.train_floor_ms, 60'000);
  EXPECT_TRUE(named.rollback.loss_spike);

  const auto status = policy("    command: [train]\n    watch: {status_file: s.json}\n");
  EXPECT_TRUE(status.speaks);
  EXPECT_FALSE(status.keeps_checkpoints);
  EXPECT_EQ(status.deadlines.start_ms, status.deadlines.compile_ms)
      << "its first sign is a step, behind loading and compiling";

  const auto log = policy(
      "    command: [train]\n    watch: {log: [{match: '(?P<step>\\d+)'}]}\n"
      "    deadlines: {compile: 3h}\n");
  EXPECT_TRUE(log.speaks);
  EXPECT_EQ(log.deadlines.start_ms, 10'800'000);
  const auto stated = policy(
      "    command: [train]\n    watch: {status_file: s.json}\n    deadlines: {start: 5s}\n");
  EXPECT_EQ(stated.deadlines.start_ms, 5'000);

  const auto protocol = policy("    command: [train]\n    watch: {protocol: true}\n");
  EXPECT_TRUE(protocol.speaks);
  EXPECT_TRUE(protocol.keeps_checkpoints);
  EXPECT_EQ(protocol.deadlines.start_ms, 60'000);

  const auto files = policy("    command: [train]\n    watch: {checkpoints: ['*.pt']}\n");
  EXPECT_FALSE(files.speaks);
  EXPECT_TRUE(files.keeps_checkpoints);
  EXPECT_TRUE(policy("    command: [train]\n    watch: {cpu_time: true}\n").watch_cpu);
}

TEST_F(ConfigPolicy, OnlyWhoIsToldToResumeIsHeldToIt) {
  const auto told = [&](const std::string& program) {
    const auto config = load_text("programs:\n  a:\n" + program);
    if (!config) return false;
    const Program& read = config->programs.at(0);
    EXPECT_EQ(policy_of(read).told_to_resume, is_told_to_resume(read)) << "the core knows of it";
    return is_told_to_resume(read);
  };
  EXPECT_TRUE(told("    training_config: {}\n"));
  EXPECT_FALSE(told("    command: [train, --auto]\n"));
  EXPECT_TRUE(told("    command: [train, [--resume, '{checkpoint}']]\n"));
  EXPECT_TRUE(told("    command: [train]\n    environment: {FROM: '{resume_step}'}\n"));
  EXPECT_TRUE(told("    command: [train]\n    watch: {protocol: true}\n"));
}

TEST_F(ConfigPolicy, TheDigestFollowsEveryKey) {
  const auto digest = [&](const std::string& line) {
    const auto config = load_text("programs:\n  a:\n    command: [x]\n" + line);
    return config ? config->programs.at(0).digest : config.error().front().text();
  };
  std::vector<std::string> seen{digest("")};
  for (const char* line : {"checkpoints: {adaptive: false}",
                           "checkpoints: {on_stop: true}",
                           "checkpoints: {every: 7}",
                           "plan: {block: 8}",
                           "plan: {batch: 8}",
                           "plan: {block: 8, min_block: 4}",
                           "plan: {recompute: true}",
                           "rollback: {tries: 9}",
                           "rollback: {loss_spike: false}",
                           "quarantine: {faults: 9}",
                           "quarantine: {within: 9s}",
                           "quarantine: {for: 9s}",
                           "quarantine: {max: 9d}",
                           "reset_command: [y]",
                           "logs: {keep: 9}",
                           "steps: {keep: 1000}",
                           "logs: {max_size: 1MiB}",
                           "limits: {memory: 1GiB}",
                           "deadlines: {reset: 9s}",
                           "budgets: {time_without_progress: 9h}",
                           "watch: {status_file: s}",
                           "watch: {status_file: s, keys: {step: n}}",
                           "watch: {log: [{match: x, phase: load}]}",
                           "watch: {checkpoints: ['x1']}",
                           "watch: {cpu_time: true}",
                           "watch: {protocol: true}"}) {
    const std::string next = digest("    " + std::string(line) + "\n");
    EXPECT_EQ(next.size(), 64U) << line << ": " << next;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), next), 0) << line;
    seen.push_back(next);
  }
}

TEST_F(ConfigPolicy, OurWorkersSizesAreSaidOnce) {
  EXPECT_THAT(wrong("plan: {min_block: 32}"), IsEmpty());
  EXPECT_THAT(wrong("plan: {recompute: true, accumulate: true}"), IsEmpty());
  EXPECT_THAT(wrong("plan: {block: 32}"),
              ElementsAre("3:19: programs.a.plan.block: is for a 'command'; our own worker has "
                          "training_config.block_size"));
  EXPECT_THAT(wrong("checkpoints: {every: 5}"),
              ElementsAre(HasSubstr("our own worker has training_config.checkpoint_every")));
  EXPECT_THAT(wrong("plan: {min_block: 4096}"),
              ElementsAre(HasSubstr("is above the configured block of 128")));
}

TEST_F(ConfigPolicy, ContradictionsAndRanges) {
  const std::string command = "command: [x]\n    ";
  EXPECT_THAT(wrong(command + "plan: {min_block: 32}"), ElementsAre(HasSubstr("needs plan.block")));
  EXPECT_THAT(wrong(command + "plan: {accumulate: true}"),
              ElementsAre(HasSubstr("needs plan.batch")));
  EXPECT_THAT(wrong("quarantine: {for: 2h, max: 1h}"),
              ElementsAre("3:32: programs.a.quarantine.max: is shorter than quarantine.for"));
  EXPECT_THAT(wrong("quarantine: {faults: 0}"), ElementsAre(HasSubstr("from 1 to 1000")));
  EXPECT_THAT(wrong("rollback: {tries: -1}"), ElementsAre(HasSubstr("from 0 to 1000")));
  EXPECT_THAT(wrong("rollback: {trie: 1}"), ElementsAre(HasSubstr("did you mean 'tries'?")));
  EXPECT_THAT(wrong("limits: {memory: 8}"),
              ElementsAre("3:22: programs.a.limits.memory: expected a size from 16MiB to 1024TiB, "
                          "found the number 8; add a unit (KiB, MiB, GiB, TiB), as in '8MiB'"));
  EXPECT_THAT(wrong("limits: {memory: 8 gigs}"), ElementsAre(HasSubstr("write it as '64MiB'")));
  EXPECT_THAT(wrong("steps: {keep: 64}"), ElementsAre(HasSubstr("at least 1000, or 0")));
  EXPECT_THAT(wrong("logs: {max_size: 1KiB}"), ElementsAre(HasSubstr("from 64KiB to 1TiB")));
  EXPECT_THAT(wrong("reset_command: tt-smi"), ElementsAre(HasSubstr("expected a list such as")));
  EXPECT_THAT(wrong("reset_command: [x, '{busid}']"),
              ElementsAre(HasSubstr("unknown name '{busid}'; did you mean '{bus_id}'?")));
}

}  // namespace
}  // namespace trainward::config
