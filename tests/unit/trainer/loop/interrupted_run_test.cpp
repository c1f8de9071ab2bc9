// A run that is stopped or killed at any point, and resumed, is told from one that never was by
// nothing: the same evaluations and samples, the same best checkpoints, the same end.
//
// Each attempt is a process of its own with checkpoints on the disk. Its points are the moments at
// which it asks whether to stop or tells something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGKILL by raise()
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/retention.hpp"
#include "common/base/json/json.hpp"
#include "fake_trainable.hpp"
#include "temporary_folder.hpp"
#include "trainer/data/batch_reader.hpp"
#include "trainer/data/corpus.hpp"
#include "trainer/loop/checkpoints/checkpointing.hpp"
#include "trainer/loop/checkpoints/resume.hpp"
#include "trainer/loop/training_loop.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

struct Interruption {
  enum class How { none, stop, kill } how = How::none;
  int at = 0;  // the point
};

// What is asked of this attempt, and the count of its points.
class Points final : public Requests {
 public:
  explicit Points(Interruption by) : by_(by) {}

  void pass() const {
    ++passed_;
    if (by_.how == Interruption::How::kill && passed_ == by_.at) (void)::raise(SIGKILL);
  }
  [[nodiscard]] bool stop_requested() const override {
    pass();
    return by_.how == Interruption::How::stop && passed_ >= by_.at;
  }
  bool take_save_request() override { return false; }
  [[nodiscard]] int passed() const { return passed_; }

 private:
  Interruption by_;
  mutable int passed_ = 0;
};

// Says what the first weight is, once for each of three prompts.
class Speaking final : public Samples {
 public:
  Speaking(const Trainable& model, const Points& points, std::ofstream& record)
      : model_(model), points_(points), record_(record) {}

  Result<bool> speak(std::int64_t step) override {
    for (int prompt = 0; prompt < 3; ++prompt) {
      if (points_.stop_requested()) return false;
    }
    float weight = 0;
    std::memcpy(&weight, model_.model_state().front().bytes.data(), sizeof weight);
    record_ << fmt::format("samples {} {}\n", step, weight) << std::flush;
    return true;
  }

 private:
  const Trainable& model_;
  const Points& points_;
  std::ofstream& record_;
};

struct Ended {
  int code = -1;  // of the process; -1: killed
  int points = 0;
};

// What a run that is over has left behind.
struct Course {
  std::multimap<std::string, std::string> looks;  // "evaluation 4" to its loss
  std::string end;                                // why, and what is known of the evaluations
  std::map<std::int64_t, std::string> kept;       // pins
};

std::multimap<std::string, std::string> each_once(
    const std::multimap<std::string, std::string>& all) {
  std::multimap<std::string, std::string> once;
  for (const auto& look : all) {
    if (std::ranges::find(once, look) == once.end()) once.insert(look);
  }
  return once;
}

class SmallRun {
 public:
  SmallRun(LoopPlan plan, std::vector<double> losses, const Corpus& corpus)
      : plan_(plan), losses_(std::move(losses)), corpus_(corpus) {}

  Ended attempt(Interruption by) const {
    const ::pid_t child = ::fork();
    if (child == 0) ::_exit(train(by));
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    Ended ended;
    if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
    std::ifstream(folder_.path() / "points") >> ended.points;
    return ended;
  }

  [[nodiscard]] Course course() const {
    Course course;
    std::ifstream record(folder_.path() / "record");
    for (std::string line; std::getline(record, line);) {
      const auto cut = line.rfind(' ');
      if (line.starts_with("end ")) {
        course.end = line;
      } else {
        course.looks.emplace(line.substr(0, cut), line.substr(cut + 1));
      }
    }
    const auto present = checkpoint::list(root());
    EXPECT_TRUE(present);
    for (const checkpoint::Summary& one : *present) {
      const std::string why = checkpoint::pinned_because(one.path);
      if (!why.empty()) course.kept[one.step] = why;
    }
    return course;
  }

 private:
  [[nodiscard]] fs::path root() const { return folder_.path() / "checkpoints"; }

  int train(Interruption by) const {
    constexpr int broken = 99;
    Points points(by);
    std::ofstream record(folder_.path() / "record", std::ios::app);
    std::string end = "end";
    Reporter reporter({[&](const Message& message) {
                         points.pass();
                         if (const auto step = find(message, "EVALUATED_STEP")) {
                           record << fmt::format("evaluation {} {}\n", *step,
                                                 *find(message, "EVALUATION_LOSS"))
                                  << std::flush;
                         }
                         if (const auto why = find(message, "EARLY_END"))
                           end += " " + std::string(*why);
                       },
                       [](std::string_view) {}, [](std::string_view) {}, [] { return Time{}; }});
    FakeRecord fake;
    fake.losses = losses_;
    FakeTrainable model(fake);
    BatchReader data(corpus_, 2, 1, 3);
    HeldOut held_out(corpus_, 3, 2);
    Progress progress;
    RunFacts facts;
    facts.run = "test";
    Carried carried;
    const auto from = choose_checkpoint({ResumeRequest::How::newest, {}}, root(), reporter);
    if (!from) return broken;
    if (*from) {
      auto reader = checkpoint::Reader::open(**from);
      if (!reader) return broken;
      auto found = progress_of(reader->state());
      auto restored = restore(*reader, model, reader->state().step);
      if (!found || !restored || !data.seek(found->cursor)) return broken;
      progress = *found;
      carried = std::move(*restored);
    }
    Checkpointing checkpoints(root(), model, facts, std::move(carried), {}, reporter);
    Speaking speaking(model, points, record);
    TrainingLoop loop(plan_, model, data, progress,
                      {reporter, points, checkpoints, &held_out, &speaking});
    const auto ending = loop.run();
    std::ofstream(folder_.path() / "points") << points.passed();
    if (!ending) return broken;
    if (*ending == Ending::finished) {
      record << end << " " << json::serialize(to_json(loop.progress().evaluations)) << "\n";
    }
    record.close();
    return *ending == Ending::finished ? 0 : 75;
  }

  LoopPlan plan_;
  std::vector<double> losses_;
  const Corpus& corpus_;
  // In memory, where available, to avoid waiting for a disk thousands of times.
  TemporaryFolder folder_{::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm")
                                                          : fs::temp_directory_path()};
};

struct Case {
  const char* name;
  LoopPlan plan;
  std::vector<double> losses;  // after each step
};

class InterruptedRun : public testing::TestWithParam<Case> {
 protected:
  InterruptedRun() {
    std::ofstream text(folder_.path() / "text");
    for (int i = 0; i < 40; ++i) text << i << " bottles of beer on the wall, ";
    text.close();
    const std::vector<std::string> paths{folder_.path().string()};
    corpus_.emplace(Corpus::read(paths, 8).value());
  }

  [[nodiscard]] std::unique_ptr<SmallRun> begin() const {
    return std::make_unique<SmallRun>(GetParam().plan, GetParam().losses, *corpus_);
  }
  // The run that nobody disturbs, and how many points it has.
  Course straight() {
    const auto run = begin();
    const Ended ended = run->attempt({});
    EXPECT_EQ(ended.code, 0);
    points_ = ended.points;
    return run->course();
  }
  static void expect_same(const Course& course, const Course& straight) {
    EXPECT_EQ(each_once(course.looks), straight.looks);
    EXPECT_EQ(course.end, straight.end);
    EXPECT_EQ(course.kept, straight.kept);
  }

  TemporaryFolder folder_;
  std::optional<Corpus> corpus_;
  int points_ = 0;
};

INSTANTIATE_TEST_SUITE_P(
    Plans, InterruptedRun,
    testing::Values(
        Case{"KeepsTheBest",
             {.steps = 5,
              .checkpoint_every = 3,
              .evaluate_every = 2,
              .evaluate_first = true,
              .keep_best = 2},
             {9, 8, 3, 8, 4, 2}},
        Case{
            "EndsEarly",
            {.steps = 9, .checkpoint_every = 4, .evaluate_every = 1, .keep_best = 1, .patience = 2},
            {9, 5, 3, 4, 6, 1}},
        Case{"OnlySpeaks", {.steps = 5, .checkpoint_every = 2}, {}}),
    [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST_P(InterruptedRun, StoppedAnywhereItLooksOnceAtEachStep) {
  const Course course = straight();
  ASSERT_EQ(each_once(course.looks).size(), course.looks.size());
  ASSERT_GT(points_, 20);
  for (int at = 1; at <= points_; ++at) {
    SCOPED_TRACE(fmt::format("stopped at point {} of {}", at, points_));
    const auto run = begin();
    // What is asked for once everything is done comes too late.
    const int first = run->attempt({Interruption::How::stop, at}).code;
    if (first != 0) {
      ASSERT_EQ(first, 75);
      ASSERT_EQ(run->attempt({}).code, 0);
    }
    Course resumed = run->course();
    expect_same(resumed, course);
    // Before the first step there is no checkpoint to go on from.
    std::erase_if(resumed.looks, [](const auto& look) { return look.first.ends_with(" 0"); });
    EXPECT_EQ(each_once(resumed.looks).size(), resumed.looks.size());
  }
}

TEST_P(InterruptedRun, KilledAnywhereItComesToTheSame) {
  const Course course = straight();
  for (int at = 1; at <= points_; ++at) {
    SCOPED_TRACE(fmt::format("killed at point {} of {}", at, points_));
    const auto run = begin();
    ASSERT_EQ(run->attempt({Interruption::How::kill, at}).code, -1);
    ASSERT_EQ(run->attempt({}).code, 0);
    expect_same(run->course(), course);
  }
}

TEST_P(InterruptedRun, InterruptedAgainAndAgainItComesToTheSame) {
  const Course course = straight();
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const auto run = begin();
    int code = -1;
    for (int attempt = 0; attempt < 4 && code != 0; ++attempt) {
      const auto how = random() % 2 == 0 ? Interruption::How::stop : Interruption::How::kill;
      code =
          run->attempt({how, 1 + static_cast<int>(random() % static_cast<unsigned>(points_))}).code;
      ASSERT_THAT(code, testing::AnyOf(-1, 0, 75));
    }
    if (code != 0) {
      ASSERT_EQ(run->attempt({}).code, 0);
    }
    expect_same(run->course(), course);
  }
}

// Started once more by mistake, or with more steps to come.
TEST_P(InterruptedRun, OnceItIsOverNothingIsLookedAtAgain) {
  const auto run = begin();
  ASSERT_EQ(run->attempt({}).code, 0);
  const Course before = run->course();
  ASSERT_EQ(run->attempt({}).code, 0);
  EXPECT_EQ(run->course().looks, before.looks);
  EXPECT_EQ(run->course().kept, before.kept);
}

}  // namespace
}  // namespace trainward::trainer
