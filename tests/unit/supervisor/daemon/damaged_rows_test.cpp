// Whatever has become of a row of the run database, a daemon goes on: it takes the worker that
// lives over, starts no second one, and records what comes after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/random.hpp"
#include "live_run.hpp"
#include "supervisor/daemon/notify/program_news.hpp"
#include "supervisor/daemon/records/catch_up.hpp"
#include "supervisor/daemon/records/rebuild.hpp"
#include "supervisor/daemon/records/run_database.hpp"
#include "supervisor/record/store/damaged_file.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;

// SQL without the rules that a bit does not keep either.
class RawDatabase {
 public:
  explicit RawDatabase(const fs::path& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &db_), SQLITE_OK);
  }
  ~RawDatabase() { sqlite3_close(db_); }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  // The rows as texts. What it refuses (a unique value, given twice) changes nothing.
  std::vector<std::vector<std::string>> run(const std::string& sql) {
    std::vector<std::vector<std::string>> rows;
    const auto take = [](void* to, int count, char** values, char**) {
      auto& row = static_cast<std::vector<std::vector<std::string>>*>(to)->emplace_back();
      for (int i = 0; i < count; ++i) row.emplace_back(values[i] == nullptr ? "" : values[i]);
      return 0;
    };
    sqlite3_exec(db_, sql.c_str(), take, &rows, nullptr);
    return rows;
  }

 private:
  sqlite3* db_ = nullptr;
};

// One of `count`, from 0 on.
std::size_t pick(SplitMix64& random, std::size_t count) {
  return static_cast<std::size_t>(random.below(count));
}

std::string sql_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

// One of a daemon's lives, without its loop and its processes.
class Supervisor {
 public:
  Supervisor(const Paths& paths, const config::Program& program)
      : paths_(paths), program_(program), file_(paths.state / "trainward.db") {}

  Status start(Time at, std::int64_t worker) {
    auto opened = open_run_database(file_);
    if (!opened) return propagate(opened);
    set_aside = opened->set_aside.has_value();
    store.emplace(std::move(opened->store));
    auto booted = store->boot_id();
    if (!booted) return propagate(booted);
    const auto no_logs = [](const fs::path&) { return session::LogEvidence(); };
    if (!*booted) {
      if (auto done = rebuild(*store, paths_, {program_}, no_logs); !done) return propagate(done);
    }
    if (auto ok = store->put_boot_id(boot_id(), at.wall.ms); !ok) return ok;
    news_.emplace(loop_, *store, notify::Policy{}, paths_.state);
    if (auto ok = news_->begin(); !ok) return ok;
    auto caught_up = catch_up(*store, paths_, program_, no_logs);
    if (!caught_up) return propagate(caught_up);
    auto stored = stored_state(*store, paths_, program_);
    if (!stored) return propagate(stored);
    run.emplace(
        *store, paths_, program_, [this](Recorder & recorder, auto state) -> auto& {
          program_news_.emplace(loop_, *news_, *store, recorder, program_.name, core::Policy{},
                                state);
          return *program_news_;
        });
    run->database().on_unfit([this](const Error& why) {
      unfit = store::mark_unfit(file_, why.what, now().wall.ms).has_value();
    });
    if (!*stored) return run->start(at), Status();
    if (auto ok = program_news_->recover((*stored)->state.seen.wall.ms); !ok) return ok;
    return run->recover(std::move(**stored), at, worker);
  }

  bool set_aside = false;  // the database that was found
  bool unfit = false;      // the one in use: to be started again
  std::optional<store::Store> store;

 private:
  const Paths& paths_;
  const config::Program& program_;
  fs::path file_;
  Loop loop_;
  std::optional<News> news_;
  std::optional<ProgramNews> program_news_;

 public:
  std::optional<LiveRun> run;  // last: it uses the others
};

class DamagedRows : public testing::TestWithParam<std::uint64_t> {
 protected:
  DamagedRows() {
    program_.name = "run";
    program_.autostart = true;
    program_.needs_board = true;
    program_.digest = "d";
    play();
    fs::rename(paths_.state, pristine_);
  }

  // A crash that people were told of, a kill, and a worker that trains.
  void play() {
    fs::create_directories(paths_.state);
    Supervisor first(paths_, program_);
    ASSERT_TRUE(first.start(now(), 0));
    LiveRun& run = *first.run;
    train(run, 1, 7);
    run.save(5);
    run.end(R"("code":1)");
    wait_for_launch(run);
    train(run, 6, 9);
    run.say(R"("EVALUATED_STEP":"8","EVALUATION_LOSS":"2.25")");
    run.say(R"("SAMPLE_STEP":"8","SAMPLE_PROMPT":"a","SAMPLE_ANSWER":"c")");
    run.say(R"("CACHE_HIT":"k1","PROGRAM":"block_forward","MS":"12")");
    run.end(R"("signal":11)");
    wait_for_launch(run);
    train(run, 6, 8);
    ASSERT_TRUE(first.store->put_board("A", "n300", "0", "OK", "", 1));
    worker_ = run.worker();
    at_ = run.time();
    ASSERT_EQ(worker_, 3);
  }
  static void wait_for_launch(LiveRun& run) {
    for (int i = 0; i < 200 && run.state().stage != core::Stage::launching; ++i) run.pass(30'000);
    ASSERT_EQ(run.state().stage, core::Stage::launching);
  }
  static void train(LiveRun& run, std::int64_t from, std::int64_t to) {
    run.started();
    run.say(R"("PHASE":"train")");
    go_on(run, from, to);
  }
  static void go_on(LiveRun& run, std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step <= to; ++step) {
      run.pass(20'000);
      run.step(step);
    }
  }

  // What was done, in words.
  std::string damage(SplitMix64& random) {
    const fs::path file = paths_.state / "trainward.db";
    std::string table;
    std::string text;  // of its schema
    {
      RawDatabase db(file);
      const auto tables = db.run(
          "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'");
      const auto chosen = tables.at(pick(random, tables.size()));
      table = chosen[0];
      text = chosen[1];
      std::string loose = text;
      for (const std::string_view word : {" strict", " not null", "strict,"}) {
        for (auto at = loose.find(word); at != std::string::npos; at = loose.find(word, at)) {
          loose.erase(at, word.size());
        }
      }
      if (loose.ends_with(",")) loose.pop_back();
      db.run("pragma writable_schema = on; update sqlite_schema set sql = " + sql_text(loose) +
             " where name = " + sql_text(table));
    }
    std::string what;
    {
      RawDatabase db(file);
      db.run("pragma ignore_check_constraints = on");
      const auto columns = db.run("select name from pragma_table_info(" + sql_text(table) + ")");
      const std::string column = "\"" + columns.at(pick(random, columns.size()))[0] + "\"";
      const auto count =
          std::strtoull(db.run("select count(*) from " + table).at(0)[0].c_str(), nullptr, 10);
      const std::size_t place = count == 0 ? 0 : pick(random, count);
      const auto row =
          db.run(fmt::format("select {} from {} limit 1 offset {}", column, table, place));
      const std::string before = row.empty() ? "" : row[0][0];
      const std::string value = damaged(before, random);
      const std::string key = fmt::format("{} is {}", column, sql_text(before));
      db.run(fmt::format("update or ignore {} set {} = {} where {}", table, column, value, key));
      what = fmt::format("{}.{} of row {}: {} to {}", table, column, place, before.substr(0, 80),
                         value.substr(0, 80));
    }
    RawDatabase(file).run("pragma writable_schema = on; update sqlite_schema set sql = " +
                          sql_text(text) + " where name = " + sql_text(table));
    return what;
  }
  static std::string damaged(const std::string& before, SplitMix64& random) {
    switch (pick(random, 8)) {
      case 0:
        return "null";
      case 1:
        return "'x'";
      case 2:
        return "x'00ff'";
      case 3:
        return "9223372036854775807";
      case 4:
        return "-1";
      case 5:
        return "'{\"unknown\":[1]}'";
      default:
        break;
    }
    std::string flipped = before;
    if (flipped.empty()) return "''";
    auto& byte = flipped[pick(random, flipped.size())];
    byte = static_cast<char>(byte ^ (1U << pick(random, 7)));
    if (byte == '\0') byte = '0';
    const bool number = before.find_first_not_of("0123456789-.") == std::string::npos;
    return number && flipped.find_first_not_of("0123456789") == std::string::npos
               ? flipped
               : sql_text(flipped);
  }

  void round(std::uint64_t seed) {
    fs::remove_all(paths_.state);
    fs::copy(pristine_, paths_.state, fs::copy_options::recursive);
    SplitMix64 random(seed);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, damage(random)));
    auto life = std::make_unique<Supervisor>(paths_, program_);
    const Status started = life->start({at_.wall + 1'000, at_.mono + 1'000}, worker_);
    ASSERT_TRUE(started) << started.error().message();
    const auto again_if_unfit = [&] {
      if (!life->unfit) return;
      const Time at = life->run->time();
      const std::int64_t worker = life->run->worker();
      life = std::make_unique<Supervisor>(paths_, program_);
      const Status once_more = life->start(at, worker);
      ASSERT_TRUE(once_more) << once_more.error().message();
      EXPECT_TRUE(life->set_aside);
    };
    go_on(*life->run, 9, 11);
    again_if_unfit();
    // The worker that lived ends, whoever has heard of it.
    if (life->run->worker() > 0) life->run->end(R"("code":1)");
    for (int i = 0; i < 400 && life->run->worker() == 0; ++i) {
      life->run->pass(30'000);
      again_if_unfit();
      if (life->run->state().stage == core::Stage::exited) break;
    }
    ASSERT_GT(life->run->worker(), 0)
        << to_string(life->run->state().stage) << ": " << life->run->state().reason;
    train(*life->run, 100, 101);
    life->run->pass(5'000);
    again_if_unfit();
    const auto steps = life->store->highest_step("run");
    ASSERT_TRUE(steps) << steps.error().message();
    EXPECT_GE(*steps, 101) << "what came after is on record";
    EXPECT_TRUE(life->store->status_json(life->run->time()));
    EXPECT_TRUE(life->store->history_json("run"));
    aside_ += life->set_aside ? 1 : 0;
  }

  TemporaryFolder folder_;
  Paths paths_{folder_.path() / "state", folder_.path()};
  fs::path pristine_ = folder_.path() / "pristine";
  config::Program program_;
  std::int64_t worker_ = 0;
  Time at_;
  int aside_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Seeds, DamagedRows, testing::Range<std::uint64_t>(0, 4));

TEST_P(DamagedRows, SupervisionGoesOn) {
  const char* set = std::getenv("TRAINWARD_DAMAGE_ROUNDS");
  const std::uint64_t rounds = set == nullptr ? 25 : std::strtoull(set, nullptr, 10);
  for (std::uint64_t i = 0; i < rounds && !HasFailure(); ++i) round(GetParam() * 1'000'000 + i);
  std::printf("%llu rounds from seed %llu, %d databases made anew\n",
              static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(GetParam() * 1'000'000), aside_);
}

}  // namespace
}  // namespace trainward::daemon
