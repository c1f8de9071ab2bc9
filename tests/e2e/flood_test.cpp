// A worker that tells of more steps than anybody wants to keep: few are written, none that matters
// is lost, and what was left out is told.
#include <gmock/gmock.h>

#include <sstream>

#include "common/wire/journal.hpp"
#include "common/wire/launch.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::HasSubstr;

class Flood : public World {
 protected:
  void write_flood(const std::string& how) {
    write("run.yaml", "programs:\n  run:\n    command: [" + program("fault-worker") + ", " + how +
                          "]\n    watch: {protocol: true}\n    autorestart: unexpected\n"
                          "    backoff: {first: 20ms, max: 100ms}\n");
  }
  [[nodiscard]] std::filesystem::path journal() const {
    return path(".trainward/runs/run/attempts/0001") / attempt_files::journal;
  }
  std::vector<JournalRecord> records() const {
    std::vector<JournalRecord> all;
    for (std::int64_t offset = 0;;) {
      auto batch = read_journal(journal(), offset);
      if (!batch) return all;
      std::move(batch->records.begin(), batch->records.end(), std::back_inserter(all));
      if (!batch->more) return all;
      offset = batch->next_offset;
    }
  }
  // What a process has given to write(2) and its like; nothing when it is gone.
  static std::optional<std::int64_t> written_by(pid_t pid) {
    std::istringstream io(read_file(fmt::format("/proc/{}/io", pid), 4096).value_or(""));
    for (std::string key; io >> key;) {
      std::int64_t value = 0;
      io >> value;
      if (key == "wchar:") return value;
    }
    return std::nullopt;
  }
};

std::vector<std::string> said(const std::vector<JournalRecord>& records, const char* key) {
  std::vector<std::string> values;
  for (const JournalRecord& record : records) {
    const auto fields = get_object(record.fields, "fields");
    if (fields && (*fields)->contains(key)) values.push_back(string_or(**fields, key, ""));
  }
  return values;
}

TEST_F(Flood, OfAHundredThousandStepsASecondFewAreWrittenAndNothingThatMattersIsLost) {
  write_flood("--flood-ms, '8000', --every, '200000', --steps, '100000000'");
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  worker_pid();
  pid_t shim = 0;
  wait_until([&] {
    const auto all = records();
    if (!all.empty()) shim = static_cast<pid_t>(int_or(all.front().fields, "shim_pid", 0));
    return shim > 0;
  });
  std::int64_t by_daemon = 0;
  std::int64_t by_shim = 0;
  wait_until([&] {
    by_shim = std::max(by_shim, written_by(shim).value_or(0));
    by_daemon = std::max(by_daemon, written_by(daemon).value_or(0));
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(daemon), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == daemon;
  });
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();

  const auto all = records();
  const auto attempt = attempts().front();
  const double seconds = static_cast<double>(all.back().at.mono - all.front().at.mono) / 1000;
  std::int64_t stood_for = 0;
  for (const JournalRecord& record : all) {
    if (record.type == "message") stood_for += int_or(record.fields, "stands_for", 1);
  }
  std::printf("%lld messages in %.1f s; written by the shim %.2f MB, by the daemon %.2f MB\n",
              static_cast<long long>(stood_for), seconds, static_cast<double>(by_shim) / 1e6,
              static_cast<double>(by_daemon) / 1e6);
  EXPECT_LE(static_cast<double>(by_shim + by_daemon) / 1e6 / seconds, 2.0);

  // Steps are told one by one, so the last one is how many there were.
  const auto steps = said(all, "STEP");
  const std::int64_t last = std::stoll(steps.back());
  EXPECT_GT(last, 200'000) << "no flood";
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_EQ(attempt.cause, "done");
  EXPECT_EQ(attempt.last_step, last);
  EXPECT_EQ(attempt.kept_step, last);
  std::vector<std::string> saved;
  for (std::int64_t step = 200'000; step < last; step += 200'000) {
    saved.push_back(std::to_string(step));
  }
  saved.push_back(std::to_string(last));
  EXPECT_EQ(said(all, "CHECKPOINT_STEP"), saved);
  std::vector<std::string> phases{"load", "compile", "train"};
  for (std::size_t i = 0; i < saved.size(); ++i) {
    phases.emplace_back("save");
    phases.emplace_back("train");
  }
  EXPECT_EQ(said(all, "PHASE"), phases);
  EXPECT_EQ(stood_for, last + static_cast<std::int64_t>(phases.size() + saved.size()) + 1);
  EXPECT_THAT(ctl({"why", "run"}).out, HasSubstr("left out"));
}

TEST_F(Flood, ADaemonThatWasAwayGoesOnWhereItWas) {
  write_flood("--flood-ms, '3000', --every, '200000', --steps, '100000000'");
  const pid_t first = start_daemon({"run.yaml"});
  wait_until([&] { return last_step() > 1'000; });
  ::kill(first, SIGKILL);
  end_of(first);
  EXPECT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0) << daemon_log();
  const auto attempt = attempts().front();
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_EQ(attempt.cause, "done") << daemon_log();
  EXPECT_EQ(std::to_string(attempt.last_step), said(records(), "STEP").back());
  EXPECT_EQ(attempt.kept_step, attempt.last_step);
}

}  // namespace
}  // namespace trainward::e2e
