// Checkpoints that come back to another box: the real daemon on an empty disk.
#include "uploads.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;

class NewBox : public Boxes {
 protected:
  // What the old one sent: step 40.
  void send_from_the_old_one() {
    fs::create_directory(path("nas"));
    make_box("old", 40, true);
    const Output first = run_in("old");
    EXPECT_EQ(first.code, 0) << first.out << first.err << "nothing there is a new run";
    EXPECT_TRUE(fs::exists(path("nas/run/model_step40.bin/model_step40.bin")))
        << "--once waits for it: " << first.out << first.err;
  }
  [[nodiscard]] orders::Orders orders_in(const std::string& box) const {
    orders::Orders orders =
        orders_of(box + "/state", {{"nas", orders::FolderPlace{path("nas").string()}, {}}});
    orders.uploads[0].source.directory = path(box).string();
    orders.uploads[0].source.foreign = true;
    return orders;
  }
  void expect_it_went_on() {
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
};

TEST_F(NewBox, GoesOnFromWhatTheOldOneSent) {
  send_from_the_old_one();
  make_box("new", 60, true);
  const Output second = run_in("new");
  EXPECT_EQ(second.code, 0) << second.out << second.err;
  expect_it_went_on();
}

// Ended before it lies in its place, each time, and then with its daemon; nothing begins at step 0.
TEST_F(NewBox, GoesOnThoughItsRestoreWasEnded) {
  send_from_the_old_one();
  make_box("new", 60, true);
  ::setenv("TRAINWARD_FAULT", "restore.fetched", 1);
  const pid_t daemon = start_daemon({"new/run.yaml"});
  ::unsetenv("TRAINWARD_FAULT");
  wait_until([&] {
    auto store = store::Store::open_read_only(path("new/state/trainward.db"));
    if (!store) return false;
    const auto row = store->program("run");
    return row && *row && (*row)->reason.find("ended by signal 9") != std::string::npos;
  });
  ::kill(daemon, SIGKILL);
  EXPECT_EQ(end_of(daemon), -SIGKILL);
  EXPECT_FALSE(fs::exists(path("new/out/model_step40.bin")));
  ::setenv("TRAINWARD_FAULT", "restore.moved", 1);
  const Output second = run_in("new");
  ::unsetenv("TRAINWARD_FAULT");
  EXPECT_EQ(second.code, 0) << second.out << second.err;
  expect_it_went_on();
  for (const auto& entry : fs::recursive_directory_iterator(path("new/out"))) {
    const bool part = entry.path().string().find(".tmp") != std::string::npos;
    EXPECT_FALSE(part && entry.is_regular_file()) << entry.path() << " takes room";
  }
}

// One that was to begin anew and still names the place of the one before.
TEST_F(NewBox, ARunThatBeganAnewReplacesNothing) {
  send_from_the_old_one();
  make_box("new", 50, false);
  const Output second = run_in("new");
  EXPECT_EQ(second.code, 74) << second.out << second.err << "its checkpoint stayed behind";
  // Of the newest: a slow run has one that was to be sent before it as well.
  const auto rows = upload::uploads_json(path("new/state/courier.db"), "run", 1);
  ASSERT_TRUE(rows && !rows->empty());
  const json::object& row = rows->front().as_object();
  EXPECT_EQ(string_or(row, "state", ""), "failed");
  EXPECT_NE(string_or(row, "error", "").find("holds checkpoints of another run"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(path("nas/run/model_step50.bin")));
  EXPECT_TRUE(fs::exists(path("nas/run/model_step40.bin/model_step40.bin")));
}

// A box that was given up, and comes back when another one has gone on from what it had sent.
TEST_F(NewBox, TheOldOneIsRefusedFromThenOn) {
  send_from_the_old_one();
  make_box("new", 60, true);
  ASSERT_EQ(run_in("new").code, 0);
  ASSERT_TRUE(fs::exists(path("nas/run/model_step60.bin/model_step60.bin")));
  std::string log;
  const fs::path saved = path("old/out/model_step70.bin");
  write("old/out/model_step70.bin", "70\n");
  auto store = store::Store::open(path("old/state/trainward.db"));
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->put_checkpoint("run", {saved, 70, 1, 3, "verified", "", now().wall.ms}));
  run_courier(orders_in("old"), "", log, "another run has continued there");
  EXPECT_FALSE(fs::exists(path("nas/run/model_step70.bin"))) << log;
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
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

// What fails before anything is sent has no row of its own, and whoever looks there is told all the
// same.
TEST_F(Uploads, AListNamesTheTargetThatCannotBeReached) {
  record_checkpoint(".trainward", 4096);
  const auto orders =
      orders_of(".trainward", {{"nas", orders::FolderPlace{path("away/nas").string()}, {}}});
  std::string log;
  run_courier(orders, "", log, "upload run/nas: ");
  for (const auto& named :
       std::vector<std::vector<std::string>>{{}, {"run"}, {"--target", "nas"}}) {
    std::vector<std::string> words{"upload", "list"};
    words.insert(words.end(), named.begin(), named.end());
    const Output list = ctl(words);
    EXPECT_EQ(list.code, 0) << list.err;
    EXPECT_NE(list.out.find("!! upload run/nas"), std::string::npos) << list.out << log;
    EXPECT_NE(list.out.find("away/nas"), std::string::npos) << list.out;
  }
  EXPECT_EQ(ctl({"upload", "list", "--target", "as"}).out.find("away/nas"), std::string::npos);
  EXPECT_EQ(ctl({"upload", "list", "--json"}).out, "[]\n");
}

}  // namespace
}  // namespace trainward::e2e
