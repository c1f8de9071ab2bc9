// Checkpoints that leave the box, and come back to another: the real courier, ended by SIGKILL at
// every named point, and the real daemon on an empty disk.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>

#include "common/os/clock.hpp"
#include "common/os/pipe.hpp"
#include "fake_s3.hpp"
#include "supervisor/courier/record/record.hpp"
#include "supervisor/orders/orders.hpp"
#include "supervisor/upload/record/uploads.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;

class Uploads : public World {
 protected:
  // A run database with a verified checkpoint of these bytes, without a daemon.
  void record_checkpoint(const std::string& state, std::size_t bytes) {
    std::string text(bytes, 'w');
    for (std::size_t i = 0; i < text.size(); i += 4096) text[i] = static_cast<char>(i / 4096);
    write(state + "/runs/run/checkpoints/step-00000010/model.safetensors", text);
    write(state + "/runs/run/checkpoints/step-00000010/MANIFEST.json", "{}");
    auto store = store::Store::open(path(state + "/trainward.db"));
    ASSERT_TRUE(store) << store.error().message();
    store::ProgramRow program;
    program.name = "run";
    program.state = "RUNNING";
    ASSERT_TRUE(store->put_program(program));
    store::AttemptRow attempt;
    attempt.program = "run";
    attempt.number = 1;
    ASSERT_TRUE(store->put_attempt(attempt));
    store::CheckpointRow row;
    row.path = path(state + "/runs/run/checkpoints/step-00000010").string();
    row.step = 10;
    row.attempt = 1;
    row.state = "verified";
    row.at_ms = now().wall.ms;
    ASSERT_TRUE(store->put_checkpoint("run", row));
  }

  [[nodiscard]] orders::Orders orders_of(const std::string& state,
                                         std::vector<orders::Target> targets) const {
    orders::Orders out;
    out.state_dir = path(state).string();
    out.database = path(state + "/trainward.db").string();
    orders::UploadOrder order;
    order.source.program = "run";
    order.source.checkpoints = path(state + "/runs/run/checkpoints").string();
    order.source.directory = path("").string();
    order.upload.targets = std::move(targets);
    out.uploads.push_back(std::move(order));
    return out;
  }

  // Runs the courier until it has committed an upload, has said `words`, or was ended. Its wait
  // status. `hear` is called with all that it has said, whenever that is more.
  int run_courier(const orders::Orders& orders, const std::string& fault, std::string& log,
                  const std::string& words = " is at ",
                  const std::function<void(const std::string&)>& hear = {}) {
    auto in = make_pipe();
    auto err = make_pipe();
    EXPECT_TRUE(in && err);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(in->read.get(), STDIN_FILENO);
      ::dup2(err->write.get(), STDERR_FILENO);
      const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(null, STDOUT_FILENO);
      if (!fault.empty()) ::setenv("TRAINWARD_FAULT", fault.c_str(), 1);
      const std::string program = this->program("trainward-courier");
      ::execl(program.c_str(), program.c_str(), nullptr);
      ::_exit(127);
    }
    err->write.reset();
    in->read.reset();
    EXPECT_TRUE(write_all(in->write.get(), orders::line_of(orders) + "\n", "the courier"));
    std::array<char, 4096> chunk{};
    std::string said;
    while (said.find(words) == std::string::npos) {
      const ssize_t got = ::read(err->read.get(), chunk.data(), chunk.size());
      if (got <= 0) break;
      said.append(chunk.data(), static_cast<std::size_t>(got));
      if (hear) hear(said);
    }
    in->write.reset();  // asks it to end
    log += said;
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }

  json::object only_row(const std::string& state) {
    const auto rows = upload::uploads_json(path(state + "/courier.db"), "run", 10);
    EXPECT_TRUE(rows) << rows.error().message();
    EXPECT_EQ(rows->size(), 1U);
    return rows && rows->size() == 1 ? rows->front().as_object() : json::object();
  }

  // Ended there, then gone on with. False: it does not come by there.
  bool ended_at(const std::string& point, const std::string& state, const orders::Orders& orders) {
    std::string log;
    const int first = run_courier(orders, point, log);
    if (!WIFSIGNALED(first)) return false;
    EXPECT_EQ(WTERMSIG(first), SIGKILL);
    const auto held = upload::held_checkpoints(path(state + "/courier.db"), "run");
    EXPECT_EQ(held.size(), 1U) << "retention leaves what is under way";
    const int second = run_courier(orders, "", log);
    EXPECT_TRUE(WIFEXITED(second)) << log;
    EXPECT_EQ(string_or(only_row(state), "state", ""), "done") << log;
    EXPECT_TRUE(upload::held_checkpoints(path(state + "/courier.db"), "run").empty());
    EXPECT_EQ(log.find(test::FakeS3::secret), std::string::npos);
    return true;
  }
};

TEST_F(Uploads, ToAFolderEndedAtEveryPointManyTimes) {
  int kills = 0;
  for (int round = 0; round < 10; ++round) {
    for (const char* point :
         {"upload.begun", "upload.opened", "upload.folder_synced", "upload.folder_synced:2",
          "upload.file_sent", "upload.file_sent:2", "upload.file_noted", "upload.file_noted:2",
          "upload.files_sent", "upload.published", "upload.latest", "upload.committed"}) {
      SCOPED_TRACE(fmt::format("{} in round {}", point, round));
      const std::string state = fmt::format("state-{}-{}", round, point);
      const std::string nas = fmt::format("nas-{}-{}", round, point);
      fs::create_directory(path(nas));
      record_checkpoint(state, 10'000 + static_cast<std::size_t>(round) * 77'777);
      const auto orders = orders_of(state, {{"nas", orders::FolderPlace{path(nas).string()}, {}}});
      ASSERT_TRUE(ended_at(point, state, orders));
      ++kills;
      std::map<std::string, int> found;
      for (const auto& entry : fs::recursive_directory_iterator(path(nas))) {
        if (entry.is_regular_file()) ++found[entry.path().filename().string()];
      }
      EXPECT_EQ(found, (std::map<std::string, int>{{"000000000010.step-00000010.json", 1},
                                                   {"latest.json", 1},
                                                   {"MANIFEST.json", 1},
                                                   {"model.safetensors", 1}}));
      fs::remove_all(path(state));
      fs::remove_all(path(nas));
    }
  }
  std::cout << kills << " kills\n";
}

// Who has mended what was refused need not wait until it is tried again by itself.
TEST_F(Uploads, WhatWasMendedIsTriedAgainWhenAskedFor) {
  record_checkpoint("state", 10'000);
  const auto orders = orders_of("state", {{"nas", orders::FolderPlace{path("nas").string()}, {}}});
  std::int64_t next_ms = 0;
  std::string log;
  const int status = run_courier(orders, "", log, " is at ", [&](const std::string& said) {
    if (next_ms > 0 || said.find("cannot go to 'nas'") == std::string::npos) return;
    wait_until([&] {
      const auto record = courier::recorded(path("state"));
      if (!record || record->at("jobs").as_array().empty()) return false;
      next_ms = int_or(record->at("jobs").as_array()[0].as_object(), "next_ms", 0);
      return next_ms > 0;
    });
    fs::create_directory(path("nas"));
    EXPECT_EQ(run("trainward-courier", {"ask", path("state").string(), "retry", "", ""}).code, 0);
  });
  EXPECT_TRUE(WIFEXITED(status)) << log;
  EXPECT_GT(next_ms, 0);
  EXPECT_LT(now().wall.ms, next_ms) << "it waited until its time had come: " << log;
  EXPECT_EQ(string_or(only_row("state"), "state", ""), "done") << log;
}

TEST_F(Uploads, ToABucketEndedAtEveryPoint) {
  write("keys", std::string(test::FakeS3::key_id) + "\n" + test::FakeS3::secret + "\n");
  fs::permissions(path("keys"), fs::perms::owner_read | fs::perms::owner_write);
  constexpr std::size_t two_parts = 70U << 20U;
  const std::string record = "run/published/000000000010.step-00000010.json";
  for (const char* point :
       {"upload.begun", "upload.opened", "upload.multipart_begun", "upload.part_sent",
        "upload.part_sent:2", "upload.part_noted", "upload.part_noted:2", "upload.parts_sent",
        "upload.completed", "upload.file_sent", "upload.file_sent:2", "upload.file_noted",
        "upload.files_sent", "upload.published", "upload.latest", "upload.committed"}) {
    SCOPED_TRACE(point);
    test::FakeS3 server;
    const std::string state = std::string("state-") + point;
    record_checkpoint(state, two_parts);
    const orders::S3Place place{server.endpoint(), "bucket", "", "eu-1", path("keys").string()};
    ASSERT_TRUE(ended_at(point, state, orders_of(state, {{"bucket", place, {}}})));
    const auto objects = server.objects();
    EXPECT_EQ(objects.size(), 4U);
    ASSERT_TRUE(objects.contains("run/step-00000010/model.safetensors"));
    EXPECT_EQ(objects.at("run/step-00000010/model.safetensors").size(), two_parts);
    EXPECT_EQ(server.times_made(record), 1);
    EXPECT_EQ(server.times_made("run/step-00000010/model.safetensors"), 1);
    EXPECT_EQ(server.open_uploads(), 0U);
    fs::remove_all(path(state));
  }
}

// The disk gives other bytes than it gave for the digests, and no time tells: the server refuses
// them, and the next try takes the file as it is then.
TEST_F(Uploads, BytesThatAreOthersThanTheyWereAreLookedAtAnew) {
  write("keys", std::string(test::FakeS3::key_id) + "\n" + test::FakeS3::secret + "\n");
  fs::permissions(path("keys"), fs::perms::owner_read | fs::perms::owner_write);
  constexpr std::size_t two_parts = 70U << 20U;
  record_checkpoint("state", two_parts);
  const fs::path file = path("state/runs/run/checkpoints/step-00000010/model.safetensors");
  bool changes = true;
  test::FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    if (changes && request.method == "POST" && request.target.ends_with("?uploads=")) {
      const auto written = fs::last_write_time(file);
      std::fstream(file, std::ios::in | std::ios::out).seekp(1'000'000) << "OTHERS";
      fs::last_write_time(file, written);
      changes = false;
    }
    return test::FakeS3::Fault::none;
  });
  const orders::S3Place place{server.endpoint(), "bucket", "", "eu-1", path("keys").string()};
  const auto orders = orders_of("state", {{"bucket", place, {}}});
  std::string log;
  run_courier(orders, "", log, "was changed while it was sent");
  EXPECT_EQ(string_or(only_row("state"), "state", ""), "failed") << log;
  EXPECT_TRUE(server.objects().empty());

  const Output asked =
      run("trainward-courier", {"ask", path("state").string(), "retry", "run", "bucket"});
  ASSERT_EQ(asked.code, 0) << asked.out << asked.err;
  run_courier(orders, "", log);
  EXPECT_EQ(string_or(only_row("state"), "state", ""), "done") << log;
  const auto objects = server.objects();
  ASSERT_TRUE(objects.contains("run/step-00000010/model.safetensors")) << log;
  EXPECT_EQ(objects.at("run/step-00000010/model.safetensors").substr(1'000'000, 6), "OTHERS");
  EXPECT_EQ(server.open_uploads(), 0U);
}

// A script that knows nothing of us: it saves a file each tenth step, and is told from which to go
// on. On a new box with an empty disk it goes on from what the first one sent.
class Boxes : public Uploads {
 protected:
  void make_box(const std::string& box, int last_step, bool restore) {
    write(box + "/train.sh", R"(
from=$1
step=0
[ -n "$from" ] && step=$(cat "$from")
mkdir -p out
while [ $step -lt )" + std::to_string(last_step) +
                                 R"( ]; do
  step=$((step + 1))
  echo "finished step $step"
  if [ $((step % 10)) -eq 0 ]; then echo $step > out/new && mv out/new out/model_step$step.bin; fi
done
)");
    write(box + "/run.yaml",
          fmt::format(R"(state_dir: {}
programs:
  run:
    command: [/bin/sh, train.sh, ["{{checkpoint}}"]]
    backoff: {{first: 20ms, max: 100ms}}
    watch:
      log: [{{match: 'finished step (?P<step>\d+)', phase: train}}]
      checkpoints: [out/model_step*.bin]
    upload:
      targets: {{nas: {{folder: {}}}}}
      restore: {}
)",
                      path(box + "/state").string(), path("nas").string(), restore));
  }

  Output run_in(const std::string& box) { return run("trainwardd", {"--once", box + "/run.yaml"}); }
};

TEST_F(Boxes, ANewBoxGoesOnFromWhatTheOldOneSent) {
  fs::create_directory(path("nas"));
  make_box("old", 40, true);
  const Output first = run_in("old");
  EXPECT_EQ(first.code, 0) << first.out << first.err << "nothing there is a new run";
  orders::Orders orders =
      orders_of("old/state", {{"nas", orders::FolderPlace{path("nas").string()}, {}}});
  orders.uploads[0].source.directory = path("old").string();
  orders.uploads[0].source.foreign = true;
  std::string log;
  EXPECT_TRUE(WIFEXITED(run_courier(orders, "", log))) << log;
  EXPECT_TRUE(fs::exists(path("nas/run/model_step40.bin/model_step40.bin"))) << log;

  make_box("new", 60, true);
  const Output second = run_in("new");
  EXPECT_EQ(second.code, 0) << second.out << second.err;
  EXPECT_TRUE(fs::exists(path("new/out/model_step40.bin")));
  auto store = store::Store::open_read_only(path("new/state/trainward.db"));
  ASSERT_TRUE(store);
  const auto attempts = store->attempts("run");
  ASSERT_TRUE(attempts);
  ASSERT_EQ(attempts->size(), 1U);
  EXPECT_EQ(attempts->front().resume_step, 40);
  EXPECT_EQ(attempts->front().first_step, 41);
  EXPECT_EQ(attempts->front().last_step, 60);
}

// Nobody begins at step 0 because a disk is not mounted yet.
TEST_F(Boxes, ATargetThatIsAwayIsWaitedFor) {
  make_box("new", 20, true);
  const pid_t daemon = start_daemon({"new/run.yaml"});
  const auto database = path("new/state/trainward.db");
  wait_until([&] {
    auto store = store::Store::open_read_only(database);
    if (!store) return false;
    const auto row = store->program("run");
    return row && *row && (*row)->reason.find("none could be restored") != std::string::npos;
  });
  {
    auto store = store::Store::open_read_only(database);
    ASSERT_TRUE(store);
    EXPECT_TRUE(store->attempts("run")->empty()) << "nothing was launched";
  }
  fs::create_directory(path("nas"));
  wait_until([&] {
    auto store = store::Store::open_read_only(database);
    const auto row = store->program("run");
    return row && *row && (*row)->state == "EXITED";
  });
  ::kill(daemon, SIGTERM);
  EXPECT_EQ(end_of(daemon), 0);
}

}  // namespace
}  // namespace trainward::e2e
