// The snapshot that metrics are made of, kept from one scrape to the next.
//
// What only grows (the ledger, attempts that ended, what was compiled) is added up from the row
// after the newest that was read before; of what changes the newest is read by its key. So a scrape
// costs the same after a year as after an hour, and nothing at all is read while the database is as
// it was, or within a second of the last reading. The first scrape of a daemon reads all attempts
// once.
//
// Counters come from the database, so they go on over restarts of the daemon, and none is ever
// shown as less than before (shown.hpp). Time goes on at most once a second. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/time.hpp"
#include "supervisor/record/metrics/disk_room.hpp"
#include "supervisor/record/metrics/shown_metrics.hpp"
#include "supervisor/record/metrics/snapshot.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::metrics {

// What the daemon gives to a scrape. The folder "state" is where what was shown is kept; only a
// daemon writes there.
struct Live {
  std::string version;
  std::optional<DaemonFigures> daemon;  // unset: none answers; `now` is when it last recorded
  std::vector<WatchedFolder> folders;
  // What is known of messages and uploads; called on the thread of the scrape, so it owns what it
  // uses. Empty: nothing is.
  std::function<std::optional<CourierFigures>()> courier = {};
  std::filesystem::path root = "/";  // where the kernel's /proc is, or a fake tree
};

class Collector {
 public:
  // A store other than the last one is read from its beginning.
  Result<Snapshot> snapshot(const store::Store& store, const Live& live, Time now);

 private:
  struct Span {
    std::string phase, cause;
    std::int64_t booked_ms = 0;
    std::int64_t shown_ms = 0;  // a counter never goes back, whatever the clocks do
  };
  struct Program {
    std::vector<Span> spans;
    std::optional<store::ProgramNow::Open> open;
    std::optional<std::int64_t> save_ms;
    std::int64_t cache_hits = 0, cache_misses = 0;
    std::optional<store::AttemptFigures> newest;  // attempt
    std::int64_t first_begin_ms = 0;              // of the first attempt
    std::int64_t counted = 0;                     // attempts up to this one are in `ended`
    std::map<std::string, std::int64_t> ended;
    std::int64_t settled = 0;  // the steps of attempts up to this one are in `steps`
    store::StepsOfAttempt steps;
    std::vector<store::AttemptFigures> unsettled;
    bool tells_tokens = false;
    std::optional<bool> thinned;          // unset: not looked at yet
    std::int64_t ended_tokens = 0;        // of the attempts in `ended`
    std::int64_t shown_tokens = 0;        // see Span
    std::optional<store::StepRow> first;  // of the newest attempt
    ProgramFigures figures;
  };

  Status refresh(const store::Store& store);
  Status read_sums(const store::Store& store);
  Status read_program(const store::Store& store, const store::ProgramNow& row);
  static Status read_attempts(const store::Store& store, Program& program);
  static Status settle(const store::Store& store, Program& program);
  static Status read_steps(const store::Store& store, Program& program);
  static Result<std::optional<std::int64_t>> tokens_of(const store::Store& store,
                                                       const std::string& program,
                                                       const store::AttemptFigures& attempt);
  static void show_time(Program& program, Time now);
  void look_at_host(const std::filesystem::path& root);
  void go_on_from(const Shown& shown);
  [[nodiscard]] Shown shown_now() const;
  Span& span_of(Program& program, const std::string& phase, const std::string& cause);

  DiskRoom disks_;
  std::string connection_;  // whose rows were read: what a store's mark begins with
  std::string mark_;
  std::optional<MonoTime> read_at_;
  std::int64_t ledger_id_ = 0;
  std::int64_t compiled_id_ = 0;
  std::map<std::string, Program> programs_;  // with those that were removed
  std::vector<std::string> shown_;           // in order
  std::vector<BoardFigures> boards_;
  HostFigures host_;
  std::optional<Time> as_of_;  // how far time has gone on
  std::string boot_;           // what `host_` is of
  bool goes_on_ = false;       // from what was shown before
  Shown kept_;
};

}  // namespace trainward::metrics
