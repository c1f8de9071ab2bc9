// What is on record, read off the loop: one thread with a read-only connection of its own.
//
// Jobs are done one after the other, each in one snapshot of the database that has everything
// committed before the job began. A file that was replaced is reopened; one that cannot be read
// fails the job and is reopened for the next. Jobs whose asker has gone before their turn are
// dropped.
//
// Thread: everything is called on the loop's, `work` alone on the reader's.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

#include "supervisor/record/store/store.hpp"
#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

class Reader {
 public:
  // Carries work from any thread to the loop.
  using Post = std::function<void(std::function<void()>)>;

  static constexpr std::size_t most_waiting = 128;

  Reader(std::filesystem::path database, Post post);
  // Does not wait for a disk that does not answer: a job that is stuck is left behind, as the end
  // of the process ends it. No job's end is reported.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  struct Job {
    // On the reader's thread; it owns what it uses. What it returns is called on the loop.
    std::function<std::function<void()>(const store::Store&)> work;
    // On the loop, instead: too much waits already, or the database cannot be opened.
    std::function<void(const Error&)> failed;
    std::function<bool()> wanted = {};  // empty: always
  };
  void run(Job job);

  // Answers with what `read` makes of the record; 503 when too much waits already.
  void answer(std::function<Response(const store::Store&)> read, const Respond& respond);

 private:
  struct Thread;
  struct Queue;
  std::shared_ptr<Queue> queue_;
};

}  // namespace trainward::api
