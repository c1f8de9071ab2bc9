#include "supervisor/courier/runner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "supervisor/courier/base/courier_table.hpp"
#include "supervisor/courier/deadline.hpp"
#include "supervisor/courier/net/http_retry.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::courier {
namespace {

// However soon a job wants to be called again.
constexpr std::int64_t least_pause_ms = 20;
// However late: the wall clock may be set meanwhile.
constexpr std::int64_t longest_wait_ms = 60'000;

}  // namespace

// Held by every thread, since one may outlive the Runner.
struct Runner::Shared {
  std::filesystem::path database;
  std::shared_ptr<Journal> journal;
  Pace pace;
  std::stop_source stop;

  // How a job stands, by its last call.
  struct Standing {
    bool owes = true;
    std::string trouble;
  };

  std::mutex mutex;
  std::condition_variable_any changed;
  std::uint64_t pokes = 0;
  bool leaving = false;
  std::map<std::string, Standing> standing;
  std::size_t working = 0;  // threads

  struct Call {
    std::uint64_t pokes = 0;
    bool leaving = false;
  };
  [[nodiscard]] Call next_call() {
    const std::lock_guard lock(mutex);
    return {pokes, leaving};
  }

  // What was committed during the call is still to be looked at.
  void called(const std::string& job, const Call& call, bool owes, const std::string& trouble) {
    const std::lock_guard lock(mutex);
    standing[job] = {owes || pokes != call.pokes || leaving != call.leaving, trouble};
  }

  // Until the time has come, something was committed since `seen`, or all is to leave.
  void wait(std::int64_t until_ms, std::optional<std::uint64_t> seen, bool leaves) {
    std::unique_lock lock(mutex);
    const auto poked = [&] { return leaving != leaves || (seen && pokes != *seen); };
    const Time began = now();
    const Deadline deadline(std::max(until_ms, began.wall.ms + least_pause_ms), began);
    std::int64_t left = deadline.left_ms(began);
    while (left > 0 && !poked() && !stop.stop_requested()) {
      changed.wait_for(lock, stop.get_token(),
                       std::chrono::milliseconds(std::min(left, longest_wait_ms)), poked);
      left = deadline.left_ms(now());
    }
  }

  // After an error: until the time has come, or somebody asks for it.
  template <typename Worker>
  void wait_for_another_try(std::int64_t until_ms, Worker& worker, const Call& call) {
    const Deadline deadline(until_ms, now());
    while (!stop.stop_requested() && !worker.is_asked_for()) {
      if (next_call().leaving != call.leaving) return;
      const std::int64_t left = deadline.left_ms(now());
      if (left <= 0) return;
      wait(now().wall.ms + std::min(left, pace.listen_ms), std::nullopt, call.leaving);
    }
  }
};

namespace {

// One job's thread.
class Worker {
 public:
  Worker(Runner::Pace pace, std::unique_ptr<Job> job, const std::filesystem::path& database,
         std::shared_ptr<Journal> journal, std::stop_token stop)
      : job_(std::move(job)),
        name_(job_->name()),
        database_(database),
        journal_(std::move(journal)),
        stop_(std::move(stop)),
        pace_(pace),
        backoff_(std::random_device()(), pace.first_pause_ms, pace.most_pause_ms) {}

  struct Next {
    std::int64_t at_ms = 0;
    bool failed = false;
  };
  Next turn(bool leaving) {
    auto result = call(leaving);
    if (stop_.stop_requested()) return {};
    const std::int64_t now_ms = now().wall.ms;
    if (result) {
      const Trouble trouble = job_->trouble();
      failures_ = 0;
      record({name_, !trouble.what.empty(), now_ms, clean(trouble.what), trouble.next_ms});
      return {*result, false};
    }
    const std::int64_t pause_ms = backoff_.pause_ms(++failures_);
    const std::int64_t next_ms =
        now_ms + (leaving ? std::min(pause_ms, pace_.leaving_pause_ms) : pause_ms);
    record({name_, true, now_ms, clean(result.error().message()), next_ms});
    return {next_ms, true};
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool owes() const { return job_->owes(); }
  [[nodiscard]] const std::string& trouble() const { return told_.error; }

  bool is_asked_for() {
    try {
      return job_->is_asked_for(*journal_);
    } catch (const std::exception&) {  // no memory
      return false;
    }
  }

 private:
  Result<std::int64_t> call(bool leaving) {
    try {
      if (!store_) {
        auto opened = store::Store::open_read_only(database_);
        if (!opened) return propagate(opened);
        store_.emplace(std::move(*opened));
      }
      fault_point("courier.job");
      auto result = job_->work({*store_, *journal_, now().wall.ms, stop_, leaving});
      // It may be another file by now.
      if (!result) store_.reset();
      return result;
    } catch (const std::exception& exception) {  // no memory
      store_.reset();
      return fail(ErrorKind::transient, fmt::format("it broke off: {}", exception.what()));
    }
  }

  // Not each time that all is as it was: every record waits for the disk.
  void record(JobState state) {
    if (told_.name == name_ && state.fails == told_.fails && state.error == told_.error &&
        state.next_ms == told_.next_ms) {
      return;
    }
    if (state.fails && state.error != told_.error) spdlog::warn("{}: {}", name_, state.error);
    if (!state.fails && told_.fails) spdlog::info("{}: works again", name_);
    if (auto put = put_job(*journal_, state); !put) {
      spdlog::warn("{}: {}", name_, put.error().message());
      return;
    }
    told_ = std::move(state);
  }

  std::unique_ptr<Job> job_;
  std::string name_;
  std::filesystem::path database_;
  std::shared_ptr<Journal> journal_;
  std::stop_token stop_;
  Runner::Pace pace_;
  net::Backoff backoff_;
  std::optional<store::Store> store_;
  JobState told_;
  int failures_ = 0;
};

}  // namespace

Result<std::unique_ptr<Runner>> Runner::start(std::vector<std::unique_ptr<Job>> jobs,
                                              const std::filesystem::path& database,
                                              std::shared_ptr<Journal> journal, Pace pace) {
  auto shared = std::make_shared<Shared>();
  shared->database = database;
  shared->journal = std::move(journal);
  shared->pace = pace;
  std::set<std::string> names;
  for (const auto& job : jobs) {
    names.insert(job->name());
    shared->standing[job->name()] = {};
  }
  if (auto kept = keep_jobs(*shared->journal, names); !kept) return propagate(kept);
  std::unique_ptr<Runner> runner(new Runner(shared));
  for (auto& job : jobs) {
    auto worker = std::make_shared<Worker>(pace, std::move(job), database, shared->journal,
                                           shared->stop.get_token());
    try {
      const std::lock_guard lock(shared->mutex);
      std::thread([shared, worker]() mutable {
        while (!shared->stop.stop_requested()) {
          const auto call = shared->next_call();
          const auto next = worker->turn(call.leaving);
          shared->called(worker->name(), call, worker->owes(), worker->trouble());
          if (next.failed) {
            shared->wait_for_another_try(next.at_ms, *worker, call);
          } else {
            shared->wait(next.at_ms, call.pokes, call.leaving);
          }
        }
        worker.reset();
        const std::lock_guard done(shared->mutex);
        --shared->working;
        shared->changed.notify_all();
      }).detach();
      ++shared->working;
    } catch (const std::system_error& error) {
      return fail(ErrorKind::transient, fmt::format("no thread can be had: {}", error.what()));
    }
  }
  return runner;
}

Runner::Runner(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
Runner::~Runner() { end(); }

void Runner::poke() {
  const std::lock_guard lock(shared_->mutex);
  ++shared_->pokes;
  shared_->changed.notify_all();
}

void Runner::leave() {
  const std::lock_guard lock(shared_->mutex);
  if (std::exchange(shared_->leaving, true)) return;
  for (auto& [name, standing] : shared_->standing) standing.owes = true;
  shared_->changed.notify_all();
}

std::vector<orders::Left::Job> Runner::left() const {
  std::vector<orders::Left::Job> out;
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [name, standing] : shared_->standing) {
    if (standing.owes) out.push_back({name, 0, 0, standing.trouble});
  }
  return out;
}

bool Runner::end() {
  // Who has been waited for once is not waited for again.
  if (!shared_->stop.request_stop()) return false;
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, shared_->pace.patience,
                                   [this] { return shared_->working == 0; });
}

}  // namespace trainward::courier
