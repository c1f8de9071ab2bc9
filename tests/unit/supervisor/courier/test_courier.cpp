// trainward-courier with jobs of its own, which its first argument names:
//
//   counts   commits one number after the other, each after the one before; says each on stderr
//   hangs    never comes back, and does not look at `stop`
//   works    does nothing, and waits for pokes
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/courier/base/courier_table.hpp"
#include "supervisor/courier/quiet.hpp"
#include "supervisor/courier/service.hpp"

namespace {

using namespace trainward;

class Counts final : public courier::Job {
 public:
  [[nodiscard]] std::string name() const override { return "counts"; }
  Result<std::int64_t> work(const courier::World& world) override {
    std::int64_t number = 0;
    auto read = world.journal.read([&](store::Connection& db) {
      return db.each("select coalesce(max(number), 0) from numbers",
                     [&](const store::Row& row) { number = row.integer(0); });
    });
    if (!read) return propagate(read);
    ++number;
    auto put = world.journal.transact([&](store::Connection& db) {
      return db.run("insert into numbers (number, pid) values (?1, ?2)", number,
                    std::int64_t{::getpid()});
    });
    if (!put) return propagate(put);
    spdlog::info("counted {}", number);
    return world.now_ms;
  }
};

class Hangs final : public courier::Job {
 public:
  [[nodiscard]] std::string name() const override { return "hangs"; }
  Result<std::int64_t> work(const courier::World& /*world*/) override {
    spdlog::info("hangs");
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait(lock, [] { return false; });
    return 0;
  }
};

class Works final : public courier::Job {
 public:
  [[nodiscard]] std::string name() const override { return "works"; }
  Result<std::int64_t> work(const courier::World& /*world*/) override {
    spdlog::info("called {}", ++calls_);
    return std::numeric_limits<std::int64_t>::max();
  }

 private:
  int calls_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  courier::be_quiet();
  courier::Trade trade;
  trade.tables = courier::courier_tables();
  trade.tables.emplace_back(
      "create table if not exists numbers (number integer primary key, pid integer) strict");
  trade.pace.patience = std::chrono::milliseconds(100);
  trade.jobs = [kind](const orders::Orders&) -> Result<std::vector<std::unique_ptr<courier::Job>>> {
    std::vector<std::unique_ptr<courier::Job>> jobs;
    if (kind == "counts") jobs.push_back(std::make_unique<Counts>());
    if (kind == "hangs") jobs.push_back(std::make_unique<Hangs>());
    if (kind == "works") jobs.push_back(std::make_unique<Works>());
    return jobs;
  };
  std::_Exit(courier::serve(trade));
}
