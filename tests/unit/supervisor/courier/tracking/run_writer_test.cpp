// A run as event files: over random histories of crashes and resumes, of the run and of the writer.
#include "supervisor/courier/tracking/run_writer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "history.hpp"
#include "shell.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_record.hpp"
#include "temporary_folder.hpp"

namespace trainward::tracking {
namespace {

namespace fs = std::filesystem;

class FileMemory final : public Memory {
 public:
  explicit FileMemory(fs::path file) : file_(std::move(file)) {}
  Result<std::string> get() override {
    std::ifstream in(file_);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  Status put(const std::string& text) override {
    std::ofstream(file_.string() + ".new") << text;
    fs::rename(file_.string() + ".new", file_);
    return {};
  }
  void lose() const { fs::remove(file_); }

 private:
  fs::path file_;
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<fs::path> event_files(const fs::path& run) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run)) {
    if (entry.path().filename().string().find("tfevents") != std::string::npos) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Every event of a file, without what is said again about its tags.
std::vector<std::string> events_in(const fs::path& file) {
  const std::string bytes = bytes_of(file);
  std::string_view rest = bytes;
  std::vector<std::string> out;
  while (const auto record = first_record(rest)) {
    const auto event = seen_event(record->data);
    std::string text =
        fmt::format("{} {} {} {}", event->step, event->at_ms, event->starts, event->stops);
    for (const std::string& tag : event->tags) text += " " + tag;
    out.push_back(std::move(text));
    rest.remove_prefix(record->size);
  }
  EXPECT_TRUE(rest.empty()) << file;
  return out;
}

class RunWriterTest : public testing::Test {
 protected:
  RunOptions options(const fs::path& logs, std::int64_t every = 1) const {
    return {"trainer", logs, "box", {{"lr", 0.003}, {"model", "tiny"}}, every};
  }

  // As the loaders see them, by the reader in Python.
  static void check_by_readers(const std::vector<fs::path>& folders) {
    if (test::shell("python3 --version 2>&1").code != 0) GTEST_SKIP() << "python3 is not installed";
    std::string command = "python3 " READ_EVENTS;
    for (const fs::path& folder : folders) command += " '" + folder.string() + "'";
    const auto read = test::shell(command + " 2>&1");
    EXPECT_EQ(read.code, 0) << read.output;
    EXPECT_NE(read.output.find(fmt::format("{} runs are as they should be", folders.size())),
              std::string::npos)
        << read.output;
  }

  static void expect(const fs::path& folder, const History& history, const std::string& run,
                     bool exact) {
    std::ofstream(folder / "expected.json")
        << json::serialize(json::object{{"run", run},
                                        {"exact", exact},
                                        {"losses", by_step(history.losses)},
                                        {"evaluations", by_step(history.evaluations)},
                                        {"attempts", history.attempts()}});
  }

  TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(RunWriterTest, EveryStepIsShownOnceWhateverCrashes) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::vector<fs::path> folders;
  std::set<std::string> met;
  for (unsigned round = 0; round < 40; ++round) {
    const fs::path folder = folder_ / std::to_string(round);
    fs::create_directories(folder);
    folders.push_back(folder);
    auto store = must(store::Store::open(folder / "trainward.db"));
    History history(store, "trainer", seed + round);
    FileMemory memory(folder / "cursor");
    const std::int64_t every = round % 3 == 2 ? 4 : 1;
    auto writer = std::make_optional<RunWriter>(options(folder / "logs", every), memory);
    const Stop stop = [] { return false; };
    const auto newest = [&]() -> std::optional<fs::path> {
      const fs::path run = folder / "logs" / "trainer";
      if (!fs::exists(run)) return std::nullopt;
      const auto files = event_files(run);
      return files.empty() ? std::nullopt : std::optional(files.back());
    };
    while (history.go_on()) {
      if (history.chance(4)) must(writer->advance(store, history.now_ms(), stop));
      if (!history.chance(15)) continue;
      writer.reset();
      const auto file = newest();
      const std::uint64_t what = history.random()() % 8;
      met.insert(std::to_string(what));
      if (what < 3 && file) {  // a torn end
        const auto size = fs::file_size(*file);
        fs::resize_file(*file, size - std::min<std::uint64_t>(history.random()() % 60, size));
      } else if (what == 3 && file) {  // a power cut, as some file systems have it
        std::ofstream(*file, std::ios::binary | std::ios::app) << std::string(64, '\0');
      } else if (what == 4) {
        memory.lose();
      } else if (what == 5) {
        fs::remove_all(folder / "logs" / "trainer");
      } else if (what == 6) {
        RunWriter other(options(folder / "logs", every), memory);
        must(other.rewrite(store, history.now_ms(), stop));
      }
      writer.emplace(options(folder / "logs", every), memory);
    }
    must(writer->advance(store, history.now_ms(), stop));
    must(writer->advance(store, history.now_ms(), stop));
    EXPECT_EQ(writer->folder(), folder / "logs" / "trainer");
    // Where it stands is known: another writer goes on with the same files.
    struct stat before {};
    struct stat after {};
    EXPECT_EQ(::stat(newest()->c_str(), &before), 0);
    writer.emplace(options(folder / "logs", every), memory);
    must(writer->advance(store, history.now_ms(), stop));
    EXPECT_EQ(::stat(newest()->c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino) << "written anew without a reason";
    expect(folder, history, "logs/trainer", every == 1);
    // What is written anew is the same again.
    const fs::path again = folder / "again";
    FileMemory none(folder / "none");
    RunWriter anew(options(again, every), none);
    must(anew.rewrite(store, history.now_ms(), stop));
    std::vector<std::string> names;
    for (const fs::path& file : event_files(again / "trainer")) names.push_back(file.filename());
    std::vector<std::string> live;
    for (const fs::path& file : event_files(folder / "logs" / "trainer")) {
      live.push_back(file.filename());
    }
    EXPECT_EQ(names, live);
    for (const auto& entry : fs::directory_iterator(folder / "logs")) {
      EXPECT_EQ(entry.path().filename(), "trainer") << "nothing else stays behind";
    }
  }
  EXPECT_GE(met.size(), 6U);
  check_by_readers(folders);
}

// A whole history, and where its newest file ended when the cursor was kept last.
TEST_F(RunWriterTest, ATornEndAtEveryByteIsGoneOnFrom) {
  auto store = must(store::Store::open(folder_ / "trainward.db"));
  must(store.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 100}));
  store::AttemptRow attempt;
  attempt.program = "trainer";
  attempt.number = 1;
  attempt.nonce = "n";
  attempt.intended_ms = epoch_ms;
  must(store.put_attempt(attempt));
  const auto add = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step <= to; ++step) {
      store::StepRow row;
      row.step = step;
      row.attempt = 1;
      row.loss = 5.0;
      row.at_ms = epoch_ms + step * 1000;
      must(store.add_step("trainer", row));
      if (step % 4 == 0) must(store.add_evaluation("trainer", {step, 1, 4.0, row.at_ms}));
    }
  };
  FileMemory memory(folder_ / "cursor");
  const fs::path logs = folder_ / "logs";
  const Stop stop = [] { return false; };
  add(1, 3);
  {
    RunWriter writer(options(logs), memory);
    must(writer.advance(store, epoch_ms, stop));
  }
  const std::string cursor = must(memory.get());
  const fs::path file = event_files(logs / "trainer").front();
  const auto kept = fs::file_size(file);
  add(4, 12);
  attempt.ended_ms = epoch_ms + 60'000;
  attempt.last_step = 12;
  attempt.cause = "hang";
  must(store.put_attempt(attempt));
  {
    RunWriter writer(options(logs), memory);
    must(writer.advance(store, epoch_ms, stop));
  }
  const std::string whole = bytes_of(file);
  const auto events = events_in(file);
  ASSERT_GT(whole.size(), kept + 500);
  for (std::size_t size = kept; size <= whole.size(); ++size) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    must(memory.put(cursor));
    RunWriter writer(options(logs), memory);
    must(writer.advance(store, epoch_ms, stop));
    ASSERT_EQ(events_in(file), events) << "cut after " << size << " bytes";
  }
  // More is gone than a torn end: all of it is written anew.
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, kept - 1);
  must(memory.put(cursor));
  RunWriter writer(options(logs), memory);
  must(writer.advance(store, epoch_ms, stop));
  EXPECT_EQ(events_in(file), events);
}

TEST_F(RunWriterTest, AStepIsOneEventAndOnlyTheNewestFileIsTouched) {
  auto store = must(store::Store::open(folder_ / "trainward.db"));
  History history(store, "trainer", 7);
  FileMemory memory(folder_ / "cursor");
  RunWriter writer(options(folder_ / "logs"), memory);
  const Stop stop = [] { return false; };
  std::map<std::string, std::string> before;
  while (history.go_on()) {
    must(writer.advance(store, history.now_ms(), stop));
    if (writer.folder().empty()) continue;
    const auto files = event_files(writer.folder());
    for (std::size_t i = 0; i < files.size(); ++i) {
      std::string& known = before[files[i].string()];
      const std::string bytes = bytes_of(files[i]);
      ASSERT_TRUE(bytes.starts_with(known)) << "only ever appended to";
      const bool may_grow = i + 2 >= files.size();  // one is closed when the next is begun
      EXPECT_TRUE(may_grow || known == bytes) << files[i];
      known = bytes;
    }
  }
}

TEST_F(RunWriterTest, WhatIsNotOursStaysAsItIs) {
  auto store = must(store::Store::open(folder_ / "trainward.db"));
  History history(store, "trainer", 11);
  while (history.go_on()) {
  }
  const fs::path logs = folder_ / "logs";
  fs::create_directories(logs / "trainer");
  std::ofstream(logs / "trainer" / "events.out.tfevents.1.own") << "the trainer's own";
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", logs / "trainer-2");
  std::ofstream(logs / "trainer-3") << "a file";
  FileMemory memory(folder_ / "cursor");
  const Stop stop = [] { return false; };
  {
    RunWriter writer(options(logs), memory);
    must(writer.advance(store, history.now_ms(), stop));
    EXPECT_EQ(writer.folder(), logs / "trainer-4");
  }
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
  EXPECT_EQ(bytes_of(logs / "trainer" / "events.out.tfevents.1.own"), "the trainer's own");
  // A link in the place of our file is not followed, and the run is written anew.
  const auto files = event_files(logs / "trainer-4");
  std::ofstream(folder_ / "victim") << "precious";
  fs::remove(files.back());
  fs::create_symlink(folder_ / "victim", files.back());
  {
    RunWriter writer(options(logs), memory);
    must(writer.advance(store, history.now_ms(), stop));
  }
  EXPECT_EQ(bytes_of(folder_ / "victim"), "precious");
  EXPECT_FALSE(fs::is_symlink(files.back()));
  // Another run of that name, from another state folder.
  auto other = must(store::Store::open(folder_ / "other.db"));
  History second(other, "trainer", 12);
  while (second.go_on()) {
  }
  auto first = *must(other.attempt("trainer", 1));
  first.nonce = "another";
  must(other.put_attempt(first));
  FileMemory its(folder_ / "its");
  RunWriter writer(options(logs), its);
  must(writer.advance(other, second.now_ms(), stop));
  EXPECT_EQ(writer.folder(), logs / "trainer-5");
}

// Two machines whose folder is one, over NFS, and whose programs have one name.
TEST_F(RunWriterTest, RunsThatAreBuiltAtTheSameTimeStayApart) {
  const fs::path logs = folder_ / "logs";
  const auto store_of = [&](const char* name) {
    auto store = must(store::Store::open(folder_ / name));
    History history(store, "trainer", 21);
    while (history.go_on()) {
    }
    auto first = *must(store.attempt("trainer", 1));
    first.nonce = name;
    must(store.put_attempt(first));
    return store;
  };
  const auto one = store_of("one.db");
  const auto two = store_of("two.db");
  FileMemory first(folder_ / "1");
  FileMemory second(folder_ / "2");
  RunWriter writer(options(logs), first);
  RunWriter other(options(logs), second);
  int turns = 0;
  must(writer.rewrite(one, epoch_ms, [&] {
    // In the middle of it the other one begins, and is done.
    if (++turns == 3) must(other.rewrite(two, epoch_ms, [] { return false; }));
    return false;
  }));
  EXPECT_GT(turns, 3);
  EXPECT_NE(writer.folder(), other.folder());
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(logs)) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"trainer", "trainer-2"}));
  const auto mark_of = [](const fs::path& folder) {
    return bytes_of(folder / ".trainward-run.json");
  };
  EXPECT_NE(mark_of(writer.folder()).find("one.db"), std::string::npos);
  EXPECT_NE(mark_of(other.folder()).find("two.db"), std::string::npos);
  EXPECT_EQ(event_files(writer.folder()).size(), event_files(other.folder()).size());
}

// A run database that was put back from a copy goes on otherwise than the one that was written.
TEST_F(RunWriterTest, ADatabaseThatWasPutBackIsWrittenAnew) {
  const Stop stop = [] { return false; };
  const fs::path logs = folder_ / "logs";
  FileMemory memory(folder_ / "cursor");
  const auto attempt_with = [](const char* nonce, std::int64_t began_ms) {
    store::AttemptRow attempt;
    attempt.program = "trainer";
    attempt.number = std::string_view(nonce) == "first" ? 1 : 2;
    attempt.nonce = nonce;
    attempt.intended_ms = began_ms;
    return attempt;
  };
  const auto add_steps = [](store::Store& store, std::int64_t number, std::int64_t from,
                            std::int64_t to, double loss) {
    for (std::int64_t step = from; step <= to; ++step) {
      store::StepRow row;
      row.step = step;
      row.attempt = number;
      row.loss = loss;
      row.at_ms = epoch_ms + step;
      must(store.add_step("trainer", row));
    }
  };
  const fs::path database = folder_ / "trainward.db";
  const fs::path copy = folder_ / "copy.db";
  {
    auto store = must(store::Store::open(database));
    must(store.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 100}));
    auto first = attempt_with("first", epoch_ms);
    first.ended_ms = epoch_ms + 50;
    first.last_step = 10;
    first.first_step = 1;
    first.cause = "hang";
    must(store.put_attempt(first));
    add_steps(store, 1, 1, 10, 1.0);
  }
  fs::copy_file(database, copy);
  {
    auto store = must(store::Store::open(database));
    must(store.put_attempt(attempt_with("lost", epoch_ms + 5'000)));
    add_steps(store, 2, 11, 30, 2.0);
    RunWriter writer(options(logs), memory);
    must(writer.advance(store, epoch_ms, stop));
  }
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(database.string() + end);
  fs::rename(copy, database);
  auto store = must(store::Store::open(database));
  must(store.put_attempt(attempt_with("again", epoch_ms + 90'000)));
  add_steps(store, 2, 11, 40, 3.0);
  RunWriter writer(options(logs), memory);
  must(writer.advance(store, epoch_ms, stop));
  FileMemory none(folder_ / "none");
  RunWriter anew(options(folder_ / "again"), none);
  must(anew.rewrite(store, epoch_ms, stop));
  const auto files = event_files(writer.folder());
  const auto wanted = event_files(anew.folder());
  ASSERT_EQ(files.size(), wanted.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(files[i].filename(), wanted[i].filename());
    EXPECT_TRUE(bytes_of(files[i]) == bytes_of(wanted[i])) << files[i];
  }
}

// ---- SIGKILL ----

// Writes the run of $TRACKED, for the test below.
TEST(RunWriterProcess, DISABLED_Writes) {
  const char* named = std::getenv("TRACKED");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_NE(named, nullptr);
  const fs::path folder = named;
  auto store = must(store::Store::open_read_only(folder / "trainward.db"));
  FileMemory memory(folder / "cursor");
  RunWriter writer({"trainer", folder / "logs", "box", {{"lr", 0.003}}}, memory);
  must(writer.advance(store, epoch_ms, [] { return false; }));
  // From here on files are appended to one by one: the folder is there.
  must(writer.advance(store, epoch_ms, [] { return false; }));
}

TEST_F(RunWriterTest, KilledAtEveryPointItGoesOn) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  for (const char* point : {"tracking.file_made", "tracking.appended", "tracking.cursor"}) {
    const fs::path folder = folder_ / point;
    fs::create_directories(folder);
    auto store = must(store::Store::open(folder / "trainward.db"));
    History history(store, "trainer", 5);
    const auto write = [&](const std::string& fault) {
      return test::shell(
          fmt::format("TRACKED='{}' TRAINWARD_FAULT={} '{}' --gtest_also_run_disabled_tests "
                      "--gtest_filter=RunWriterProcess.DISABLED_Writes >'{}/log' 2>&1",
                      folder.string(), fault, self.string(), folder.string()));
    };
    int kills = 0;
    for (int turn = 0; history.go_on(); ++turn) {
      if (turn % 9 != 8) continue;
      // Killed at the first and at the second passage, and then not.
      for (const char* passage : {":1", ":2"}) kills += write(std::string(point) + passage).code;
    }
    EXPECT_EQ(write("none").code, 0) << bytes_of(folder / "log");
    EXPECT_NE(kills, 0) << "no process came to " << point;
    expect(folder, history, "logs/trainer", true);
    check_by_readers({folder});
  }
}

}  // namespace
}  // namespace trainward::tracking
