#include "audit.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "attempt_record.hpp"
#include "common/os/file.hpp"
#include "counts.hpp"
#include "supervisor/process/containment/containment_host.hpp"
#include "supervisor/process/containment/leftovers.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::chaos {
namespace {

// Beyond the start of the daemon and its end; booked time itself is exact.
constexpr std::int64_t slack_ms = 5'000;

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

Database open_database(const std::filesystem::path& file) {
  sqlite3* raw = nullptr;
  (void)sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  return {raw, &sqlite3_close};
}

// The first column of every row.
std::vector<std::int64_t> numbers(sqlite3* database, const std::string& query) {
  std::vector<std::int64_t> found;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return found;
  while (sqlite3_step(statement) == SQLITE_ROW) found.push_back(sqlite3_column_int64(statement, 0));
  sqlite3_finalize(statement);
  return found;
}

class AttemptAudit {
 public:
  AttemptAudit(const Arena& arena, sqlite3* database, const store::AttemptRow& row,
               const Spoiled& spoiled, Problems& problems)
      : database_(database),
        row_(row),
        log_spoiled_(spoiled.logs.contains(name())),
        damaged_(spoiled.damaged.contains(name())),
        spoiled_(spoiled.journals.contains(name())),
        unread_(spoiled.journals.contains(name()) && !row.exit_code && !row.exit_signal),
        problems_(problems),
        journal_(read_journal_facts(arena.attempt(row.program, row.number))),
        counts_(read_counts(counts_file(arena.book().string(), row.program, row.number))) {}

  void check(const std::filesystem::path& folder, Audited& sum) {
    check_end();
    if (!damaged_) check_heartbeats();
    if (counts_ && !damaged_) check_logs(read_log_facts(folder), sum);
    // No worker ever ran, and no shim said that it could not.
    if (!counts_ && !damaged_ && !journal_.began) ++sum.never_launched;
    ++sum.attempts;
    sum.steps += static_cast<std::int64_t>(journal_.steps.size());
    sum.dropped_messages += journal_.dropped_messages;
  }

 private:
  template <typename... Arguments>
  void broken(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
    problems_.push_back(fmt::format("{} attempt {}: ", row_.program, row_.number) +
                        fmt::format(form, std::forward<Arguments>(arguments)...));
  }

  [[nodiscard]] std::string name() const { return fmt::format("{}/{}", row_.program, row_.number); }

  void check_end() {
    if (row_.ended_ms == 0) return broken("has no end");
    if (row_.cause.empty()) broken("ended without a cause");
    // No worker of an attack exits so, and nothing is wrong with its configuration.
    if (row_.cause == "config") broken("was given up as wrongly configured: {}", row_.verdict);
    const auto evidence =
        numbers(database_,
                fmt::format("select count(*) from evidence where program = '{}' and attempt = {}",
                            row_.program, row_.number));
    if (evidence.empty() || evidence[0] == 0) broken("ended without evidence");
    if (unread_ || damaged_) return;
    if (row_.exit_code != journal_.code || row_.exit_signal != journal_.signal) {
      broken("the run database has exit {} signal {}, the journal exit {} signal {}",
             row_.exit_code.value_or(-1), row_.exit_signal.value_or(-1), journal_.code.value_or(-1),
             journal_.signal.value_or(-1));
    }
    const std::int64_t chosen = counts_ ? counts_->exits_with : 0;
    // It may be killed between the choice and the exit.
    if (chosen > 0 && journal_.code && *journal_.code != chosen - 1) {
      broken("the worker exited with {}, recorded is {}", chosen - 1, *journal_.code);
    }
  }

  void check_heartbeats() {
    const auto recorded = numbers(
        database_, fmt::format("select step from steps where program = '{}' and attempt = {} "
                               "order by step",
                               row_.program, row_.number));
    // The shim has begun the journal anew: what it says now is on record, beside what was before.
    const bool all_there = spoiled_ && std::includes(recorded.begin(), recorded.end(),
                                                     journal_.steps.begin(), journal_.steps.end());
    if (recorded != journal_.steps && !all_there && !unread_) {
      broken("the journal has {} heartbeats, the run database {}", journal_.steps.size(),
             recorded.size());
    }
    std::int64_t missing = 0;
    for (std::size_t i = 1; i < journal_.steps.size(); ++i) {
      missing += journal_.steps[i] - journal_.steps[i - 1] - 1;
      if (journal_.steps[i] <= journal_.steps[i - 1]) {
        broken("step {} came twice", journal_.steps[i]);
      }
    }
    if (missing > journal_.dropped_messages) {
      broken("{} heartbeats are missing in the journal, and it owns up to {}", missing,
             journal_.dropped_messages);
    }
    const std::int64_t last = journal_.steps.empty() ? 0 : journal_.steps.back();
    const std::int64_t sent = counts_ ? counts_->step : 0;
    if (journal_.ended && sent > row_.resume_step && last != sent && last != sent + 1) {
      broken("the last heartbeat sent was {}, the journal ends with {}", sent, last);
    }
  }

  void check_logs(const LogFacts& log, Audited& sum) {
    sum.lines += log.lines;
    sum.dropped_lines += std::max(log.dropped_lines, journal_.dropped_lines);
    if (log_spoiled_) return;
    if (!log.problem.empty()) broken("stdout.log: {}", log.problem);
    const std::int64_t said = counts_->lines;
    // The log's own notice of its end may have found no room; the journal's has.
    const std::int64_t kept = log.lines + std::max(log.dropped_lines, journal_.dropped_lines);
    // A shim that was killed takes along what it had not written yet.
    if (journal_.ended ? kept != said && kept != said + 1 : kept > said + 1) {
      broken("{} lines were written, the logs account for {}", said, kept);
    }
    if (journal_.ended && log.torn) broken("the last line of stdout.log is torn");
  }

  sqlite3* database_;
  const store::AttemptRow& row_;
  bool log_spoiled_;
  bool damaged_;
  // The journal was away when a daemon took the attempt over, which is all it then knows of it.
  bool spoiled_;
  bool unread_;
  Problems& problems_;
  JournalFacts journal_;
  std::optional<Counts> counts_;
};

void find_groups(const std::filesystem::path& folder, const std::string& prefix,
                 std::vector<std::filesystem::path>& found) {
  std::error_code error;
  if (folder.empty()) return;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix)) {
      found.push_back(entry->path());
    }
  }
}

}  // namespace

Audited audit_attempts(const Arena& arena, const Spoiled& spoiled, Problems& problems) {
  Audited sum;
  const auto file = arena.state() / "trainward.db";
  auto store = store::Store::open_read_only(file);
  if (!store) {
    problems.push_back("the run database: " + store.error().message());
    return sum;
  }
  const Database database = open_database(file);
  for (const char* program : programs::all) {
    auto rows = store->attempts(program);
    if (!rows || rows->empty()) {
      problems.push_back(fmt::format("{}: no attempts on record", program));
      continue;
    }
    const bool saves = std::find(std::begin(programs::always), std::end(programs::always),
                                 std::string_view(program)) != std::end(programs::always);
    std::int64_t kept = 0;
    for (const store::AttemptRow& row : *rows) {
      // Without a launch file a database made anew does not know from where it was to go on.
      const bool was_told =
          std::filesystem::exists(arena.attempt(program, row.number) / "launch.json");
      if (saves && was_told && kept > 0 && row.resume_from.empty()) {
        problems.push_back(fmt::format("{}: attempt {} began anew although step {} was kept",
                                       program, row.number, kept));
      }
      kept = std::max(kept, row.kept_step);
      AttemptAudit(arena, database.get(), row, spoiled, problems)
          .check(arena.attempt(program, row.number), sum);
    }
    if (const auto folders = arena.newest_attempt(program); folders > rows->back().number) {
      problems.push_back(fmt::format("{}: attempt {} is not on record", program, folders));
    }
  }
  return sum;
}

void audit_ledger(const Arena& arena, std::int64_t passed_ms, std::int64_t unwanted_ms,
                  const Spoiled& spoiled, Problems& problems) {
  const Database database = open_database(arena.state() / "trainward.db");
  for (const char* program : programs::always) {
    const auto booked =
        numbers(database.get(),
                fmt::format("select sum(duration_ms) from ledger where program = '{}'", program));
    const std::int64_t sum = booked.empty() ? 0 : booked[0];
    const bool too_little = sum < passed_ms - unwanted_ms - slack_ms && !spoiled.database;
    if (sum > passed_ms + slack_ms || too_little) {
      problems.push_back(
          fmt::format("{}: {} ms are booked of {} ms that passed ({} ms of them "
                      "without a daemon after a stop)",
                      program, sum, passed_ms, unwanted_ms));
    }
  }
}

void audit_folders(const Arena& arena, Problems& problems) {
  std::error_code error;
  const auto inside = std::filesystem::directory_iterator(arena.victim(), error);
  const auto text = read_file(arena.victim() / "file", 1 << 10);
  if (std::distance(inside, {}) != 1 || !text || *text != Arena::victims_text) {
    problems.push_back("something was changed in a folder of somebody else's");
  }
  for (const char* program : programs::always) {
    if (read_file(arena.backup() / program / "latest.json", 1 << 16)) continue;
    problems.push_back(fmt::format("{}: no checkpoint arrived at the backup", program));
  }
}

std::vector<std::filesystem::path> cgroups_of(const Arena& arena) {
  std::string prefix = containment::cgroup_prefix(arena.state(), "");
  prefix.pop_back();  // what follows the hash is the program's name
  const containment::CgroupHost host = containment::this_host();
  std::vector<std::filesystem::path> found;
  for (const auto& folder : {host.unified, host.systemd, host.freezer, host.memory}) {
    find_groups(folder, prefix, found);
  }
  return found;
}

}  // namespace trainward::chaos
