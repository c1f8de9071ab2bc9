// What somebody has to act on, and what every face of a run says of it: the five conditions in
// which a program is tried again although that does not help.
#include "fixture.hpp"
#include "receiver.hpp"
#include "supervisor/ctl/top/top_documents.hpp"
#include "supervisor/decide/core/need.hpp"
#include "supervisor/record/store/store.hpp"
#include "supervisor/window/page/render.hpp"
#include "world.hpp"

namespace trainward::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

core::WorkerExited failed(std::string rule, core::Cause cause, std::string line) {
  core::WorkerExited exit = core::exited_with(1);
  exit.matches.push_back({std::move(rule), cause, 60, std::move(line), "stderr.log:1"});
  return exit;
}

// The core, with people who are told.
struct Told : core::World {
  explicit Told(bool with_board) : receiver(with(with_board), {}) {
    time.wall = {now_ms};
    policy = with(with_board);
  }
  static core::Policy with(bool board) {
    core::Policy policy;
    policy.needs_board = board;
    return policy;
  }
  Told& happens(const core::Event& event, std::int64_t after_ms = 0) {
    feed(event, after_ms);
    receiver.hear(event, time, state, last);
    return *this;
  }
  Told& attempt(const core::WorkerExited& exit, std::int64_t steps) {
    if (state.stage == core::Stage::stopped) happens(core::StartRequested{});
    if (state.stage == core::Stage::backoff) happens(core::TimerFired{}, 2'000);
    happens(core::CheckpointSelected{"", {}, ""}).happens(core::WorkerStarted{42}, 5);
    for (std::int64_t step = 1; step <= steps; ++step) happens(core::StepDone{{step}, 1.0}, 10);
    return happens(exit, 100);
  }
  notify::Receiver receiver;
};

struct Condition {
  const char* name;
  std::function<void(Told&)> lead_to;
  const char* state;
  const char* words;
  const char* todo;
  notify::Kind kind;
  bool with_board = false;
};

const Condition conditions[] = {
    {"full disk",
     [](Told& run) {
       run.attempt(failed("disk-full", core::Cause::disk, "[Errno 28] No space left on device"), 5);
       // The third attempt in a row runs.
       run.attempt(failed("disk-full", core::Cause::disk, "[Errno 28] No space left on device"), 5);
       run.happens(core::TimerFired{}, 2'000).happens(core::CheckpointSelected{"", {}, ""});
       run.happens(core::WorkerStarted{42}, 5).happens(core::StepDone{{1}, 1.0}, 10);
     },
     "RUNNING", "a disk is full", "Free space on it", notify::Kind::disk_full},
    {"missing file",
     [](Told& run) {
       run.attempt(failed(std::string(core::missing_file_rule), core::Cause::data,
                          "FileNotFoundError: [Errno 2] No such file or directory: 'missing.json'"),
                   0);
     },
     "BACKOFF", "a file that it needs is not there", "correct the command", notify::Kind::stuck},
    {"no board found",
     [](Told& run) {
       run.happens(core::StartRequested{}).happens(core::ProbeFinished{});
       while (run.state.stage != core::Stage::probing) run.happens(core::TimerFired{}, 60'000);
       run.happens(core::ProbeFinished{}, 120'000);
     },
     "BACKOFF", "there is no board that can be used", "trainwardctl probe", notify::Kind::no_board,
     true},
    {"the only board is lost",
     [](Told& run) {
       const core::ProbeFinished lost{{{"A", "REMOTE_LOST", false, "chip R is gone", {}}}, "", {}};
       run.happens(core::StartRequested{}).happens(lost);
       while (run.state.stage != core::Stage::probing) run.happens(core::TimerFired{}, 60'000);
       run.happens(lost, 120'000);
     },
     "BACKOFF", "there is no board that can be used", "trainwardctl probe", notify::Kind::no_board,
     true},
    {"a hang, again and again at one step",
     [](Told& run) {
       const auto hang = failed("hang", core::Cause::hang, "watchdog: no progress");
       run.attempt(hang, 60).attempt(hang, 60);
       if (run.state.stage == core::Stage::backoff) run.happens(core::TimerFired{}, 2'000);
       if (run.state.stage == core::Stage::repairing) {
         run.happens(core::Repaired{core::Remedy::purge_caches});
       }
       run.happens(core::CheckpointSelected{"", {}, ""}).happens(core::WorkerStarted{42}, 5);
       run.happens(core::StepDone{{1}, 1.0}, 10);
     },
     "RUNNING", "it ends the same way each time", "Remove the cause", notify::Kind::stuck},
};

class Conditions : public CtlTest, public testing::WithParamInterface<Condition> {};

TEST_P(Conditions, EveryFaceSaysThatSomebodyHasToAct) {
  const Condition& condition = GetParam();
  Told run(condition.with_board);
  condition.lead_to(run);
  ASSERT_EQ(core::display(run.state.stage), condition.state);
  const std::int64_t at_ms = run.time.wall.ms;

  auto store = store::Store::open(folder_ / "trainward.db");
  ASSERT_TRUE(store.has_value());
  json::object stored = core::to_json(run.state);
  json::object plight = core::plight_of(run.state, run.time);
  for (auto& member : plight) stored[member.key()] = std::move(member.value());
  ASSERT_TRUE(store->put_program(
      {"run", condition.state, run.state.reason, "", json::serialize(stored), at_ms, 600}));
  if (run.state.attempt > 0) {
    store::AttemptRow attempt;
    attempt.program = "run";
    attempt.number = run.state.attempt;
    attempt.started_ms = at_ms;
    attempt.pid = 42;
    ASSERT_TRUE(store->put_attempt(attempt));
  }

  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{out, err, false, 0, Time{WallTime{at_ms}, {}}, {}};
  EXPECT_EQ(trainward::ctl::run({"status"}, folder_, terminal), 3) << "the exit code";
  EXPECT_THAT(out.str(), HasSubstr("!! "));
  EXPECT_THAT(out.str(), HasSubstr(condition.todo));
  out.str("");
  trainward::ctl::run({"why", "run"}, folder_, terminal);
  EXPECT_THAT(out.str(), HasSubstr(condition.todo));
  EXPECT_THAT(out.str(), Not(HasSubstr("nothing to do")));

  const json::array rows = store->status_json(Time{WallTime{at_ms}, {}}).value();
  top::Documents screen;
  screen.now_ms = at_ms;
  screen.programs = rows;
  const top::Snapshot seen = top::snapshot_of(screen, [](std::int64_t) { return ""; });
  ASSERT_EQ(seen.programs.size(), 1U);
  EXPECT_TRUE(seen.programs[0].urgent);
  EXPECT_THAT(seen.programs[0].sentence, HasSubstr(condition.words));
  EXPECT_THAT(seen.programs[0].todo, HasSubstr(condition.todo));

  page::Documents documents;
  documents.view.now_ms = at_ms;
  documents.programs = rows;
  const std::string page = page::overview_page(documents, {});
  EXPECT_THAT(page, HasSubstr("tone-bad"));
  EXPECT_THAT(page, HasSubstr(condition.words));
  EXPECT_THAT(page, HasSubstr("✖"));

  run.receiver.pass_time(at_ms);
  const auto told = run.receiver.told(condition.kind);
  ASSERT_EQ(told.size(), 1U) << "once";
  EXPECT_EQ(told[0].tier, notify::Tier::critical);
  EXPECT_TRUE(told[0].fields.at("must_act").as_bool());
  EXPECT_THAT(told[0].text, HasSubstr(condition.todo));
  std::size_t events = 0;
  for (const auto& event : run.every<core::RecordEvent>()) events += event.kind == "attention";
  EXPECT_EQ(events, 1U);
}

INSTANTIATE_TEST_SUITE_P(Five, Conditions, testing::ValuesIn(conditions),
                         [](const auto& info) { return "Condition" + std::to_string(info.index); });

}  // namespace
}  // namespace trainward::ctl
