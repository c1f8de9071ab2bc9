// One program's target, turn by turn: what is sent, and what becomes of what is not.
#include "supervisor/courier/jobs/uploads/upload_job.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "common/os/clock.hpp"
#include "supervisor/courier/jobs/jobs.hpp"
#include "supervisor/courier/jobs/uploads/upload_rows.hpp"
#include "supervisor/record/uploads/uploads.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {
namespace {

namespace fs = std::filesystem;

class UploadJobs : public testing::Test {
 protected:
  UploadJobs() {
    order.source = {"run", path("checkpoints"), path("work")};
    order.upload.targets = {{"nas", orders::FolderPlace{path("nas")}, {}}};
    fs::create_directory(path("nas"));
    store = std::make_unique<store::Store>(*store::Store::open(path("trainward.db")));
    journal = *Journal::open(path("courier.db"), all_tables());
    store::ProgramRow program;
    program.name = "run";
    program.state = "RUNNING";
    EXPECT_TRUE(store->put_program(program));
    store::AttemptRow attempt;
    attempt.program = "run";
    attempt.number = 1;
    EXPECT_TRUE(store->put_attempt(attempt));
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder.path() / name).string();
  }

  void verified(const std::string& at, std::int64_t step) {
    store::CheckpointRow row;
    row.path = at;
    row.step = step;
    row.attempt = 1;
    std::error_code none;
    row.bytes = fs::is_regular_file(at) ? fs::file_size(at, none) : 0;
    row.state = "verified";
    row.at_ms = now().wall.ms;
    ASSERT_TRUE(store->put_checkpoint("run", row));
  }
  // Saved a second after the one before it, and verified.
  void save(std::int64_t step) {
    const std::string name = fmt::format("checkpoints/step-{:08}", step);
    folder.write(name + "/model.safetensors", fmt::format("weights of step {}", step));
    folder.write(name + "/MANIFEST.json", "{}");
    const auto at = fs::file_time_type::clock::now() + std::chrono::seconds(++saves - 100);
    fs::last_write_time(path(name + "/MANIFEST.json"), at);
    verified(path(name), step);
  }
  [[nodiscard]] std::unique_ptr<Job> job() const {
    return make_upload_job(order, order.upload.targets.front(), {}, folder.path());
  }
  // Until there is nothing to do.
  void work() { work(*job()); }
  void work(Job& job) {
    for (int turn = 0; turn < 20; ++turn) {
      const std::int64_t at = now().wall.ms;
      const auto next = job.work({*store, *journal, at, {}});
      ASSERT_TRUE(next) << next.error().message();
      if (*next > at + 1'000) return;
    }
    FAIL() << "it comes to no end";
  }
  void ask(const std::string& what) {
    ASSERT_TRUE(ask_for_upload(*journal, what, "run", "", now().wall.ms));
  }
  [[nodiscard]] json::object row(std::int64_t step) const {
    const auto rows = upload::uploads_json(path("courier.db"), "run", 100);
    EXPECT_TRUE(rows);
    for (const json::value& one : *rows) {
      if (one.at("step") == step) return one.as_object();
    }
    return {};
  }
  [[nodiscard]] std::string state(std::int64_t step) const {
    return string_or(row(step), "state", "");
  }

  TemporaryFolder folder;
  orders::UploadOrder order;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Journal> journal;
  int saves = 0;
};

TEST_F(UploadJobs, ATargetThatIsAnotherPlaceNowGetsTheNewest) {
  save(1);
  work();
  EXPECT_EQ(state(1), "done");
  fs::create_directory(path("usb"));
  order.upload.targets[0].place = orders::FolderPlace{path("usb")};
  work();
  EXPECT_TRUE(fs::exists(path("usb/run/step-00000001/model.safetensors")));
  EXPECT_EQ(state(1), "done");
  EXPECT_NE(string_or(row(1), "place", "").find("usb"), std::string::npos);
}

TEST_F(UploadJobs, WhatWasLostThereIsSentAgainWhenSomebodyAsks) {
  save(1);
  work();
  fs::remove_all(path("nas/run"));
  ask("verify");
  work();
  EXPECT_NE(string_or(row(1), "check_error", "").find("is no longer there"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("nas/run"))) << "not by itself: somebody may have removed it";
  ask("now");
  work();
  EXPECT_TRUE(fs::exists(path("nas/run/published/000000000001.step-00000001.json")));
  EXPECT_EQ(string_or(row(1), "check_error", "?"), "");
  ask("now");
  work();
  EXPECT_EQ(state(1), "done");
}

TEST_F(UploadJobs, WhatWasDamagedThereIsMended) {
  save(1);
  work();
  const std::string file = path("nas/run/step-00000001/model.safetensors");
  std::ofstream(file) << "weights of step X";
  ask("verify");
  work();
  EXPECT_NE(string_or(row(1), "check_error", ""), "");
  ask("now");
  work();
  std::string bytes;
  std::getline(std::ifstream(file), bytes);
  EXPECT_EQ(bytes, "weights of step 1");
  ask("verify");
  work();
  EXPECT_EQ(string_or(row(1), "check_error", "?"), "");
}

// Whatever became of the one before: it holds up no newer one, and is not told for ever.
TEST_F(UploadJobs, OneThatFailedMakesWay) {
  save(1);
  fs::create_directories(path("nas/run"));
  fs::create_directory_symlink(path("work"), path("nas/run/step-00000001"));
  const auto same = job();
  work(*same);
  EXPECT_EQ(state(1), "failed");
  save(2);
  work(*same);
  EXPECT_EQ(state(2), "done");
  EXPECT_EQ(state(1), "stale");
}

TEST_F(UploadJobs, RetentionLeavesWhatIsOnItsWayToATargetThatThereIs) {
  save(1);
  fs::remove(path("nas"));
  (void)job()->work({*store, *journal, now().wall.ms, {}});
  UploadRows rows(*journal, "run", "nas");
  ASSERT_TRUE(rows.begin(
      {{path("checkpoints/step-00000001"), "step-00000001", 1, 5, false}, "waiting", 1, 0, false}));
  const auto held = [&](const std::string& target) {
    return upload::held_checkpoints(path("courier.db"), "run", {target}).size();
  };
  EXPECT_EQ(held("nas"), 1U);
  EXPECT_EQ(held("usb"), 0U) << "renamed, or not wanted any more";
}

class ForeignJobs : public UploadJobs {
 protected:
  ForeignJobs() {
    order.source.foreign = true;
    order.source.patterns = {"out/*.pt"};
  }
  static std::string pickle(std::size_t size) {
    return "\x80\x02}q" + std::string(size, '\x01') + ".";
  }
};

// It is written over in its place; the row is of what it was.
TEST_F(ForeignJobs, WhatWasWrittenSinceItWasVerifiedWaitsForTheNextVerification) {
  folder.write("work/out/last.pt", pickle(100));
  verified(path("work/out/last.pt"), 500);
  folder.write("work/out/last.pt", pickle(40));
  work();
  EXPECT_EQ(state(500), "");
  verified(path("work/out/last.pt"), 600);
  work();
  EXPECT_EQ(state(600), "done");
  EXPECT_TRUE(fs::exists(path("nas/run/last.pt.step-600/last.pt")));
}

// Its writer was ended, and the size is the same.
TEST_F(ForeignJobs, WhatIsTornIsNotPublished) {
  folder.write("work/out/last.pt", pickle(100));
  verified(path("work/out/last.pt"), 500);
  folder.write("work/out/last.pt", "PK\x03\x04" + std::string(pickle(100).size() - 4, 'x'));
  work();
  EXPECT_EQ(state(500), "failed");
  EXPECT_FALSE(fs::exists(path("nas/run")));
}

}  // namespace
}  // namespace trainward::courier
