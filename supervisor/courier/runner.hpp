// The jobs at work, each on a thread of its own.
//
// Nothing that a job does ends another: not an error, not an exception, not a call that never comes
// back. Destroying the runner asks all to end and waits `patience` at most; what has not ended then
// is left behind, as the end of the process ends it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/base/courier_journal.hpp"
#include "supervisor/courier/base/job.hpp"
#include "supervisor/orders/left.hpp"

namespace trainward::courier {

class Runner {
 public:
  struct Pace {
    std::int64_t first_pause_ms = 60'000;  // after an error; doubled, up to
    std::int64_t most_pause_ms = 1'800'000;
    std::chrono::milliseconds patience{3'000};  // at the end
    std::int64_t listen_ms = 5'000;             // after an error, to what people ask for
    std::int64_t leaving_pause_ms = 3'000;      // longest after an error, once it is to leave
  };

  // Kind transient when a thread could not be had.
  static Result<std::unique_ptr<Runner>> start(std::vector<std::unique_ptr<Job>> jobs,
                                               const std::filesystem::path& database,
                                               std::shared_ptr<Journal> journal, Pace pace);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Something was committed that may concern them. Jobs that wait after an error go on waiting,
  // unless somebody asks for them.
  void poke();
  // Every job is called at once, and from now on with World::leaving.
  void leave();
  // The jobs that have not been called since leave(), or owe something.
  [[nodiscard]] std::vector<orders::Left::Job> left() const;
  // Ends them: true when all have. Once; the destructor does not wait again.
  bool end();

 private:
  struct Shared;
  explicit Runner(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace trainward::courier
