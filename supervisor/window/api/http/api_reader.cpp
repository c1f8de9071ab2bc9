#include "supervisor/window/api/http/api_reader.hpp"

#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace trainward::api {
namespace {

constexpr auto farewell = std::chrono::milliseconds(500);

Error thread_trouble(const char* what) {
  return {ErrorKind::transient, "nothing could be read: " + std::string(what), "",
          "try again in a moment; the machine is short of memory or threads"};
}

// Of the database: another file may lie there by now.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

Identity identity_of(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

}  // namespace

// What the thread works on. Held by it as well, since it may outlive the Reader.
struct Reader::Thread : std::enable_shared_from_this<Reader::Thread> {
  using Work = std::function<std::function<void()>(const store::Store&)>;
  struct Task {
    Work work;
    std::function<void(const Error&)> done;  // on the loop; a null error's `what` is empty
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Task> task;
  Post post;  // empty once the Reader is gone
  bool ended = false;

  std::filesystem::path file;
  // Of the thread alone.
  std::optional<store::Store> store;
  Identity opened;

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return task || !post; });
      if (!post) break;
      Task mine = std::move(*task);
      task.reset();
      lock.unlock();
      std::function<void()> then = carry_out(mine);
      mine.work = nullptr;  // what it owns goes before its result is told
      lock.lock();
      if (post) post(std::move(then));
    }
    store.reset();
    ended = true;
    changed.notify_all();
  }

  std::function<void()> carry_out(const Task& mine) {
    try {
      if (auto ready = open(); !ready) {
        return [done = mine.done, error = ready.error()] { done(error); };
      }
      std::function<void()> then;
      {
        const auto snapshot = store->snapshot();
        then = mine.work(*store);
      }
      return [done = mine.done, then = std::move(then)] {
        done({});
        then();
      };
    } catch (const std::exception& exception) {  // no memory
      store.reset();
      return [done = mine.done, error = thread_trouble(exception.what())] { done(error); };
    }
  }

  Status open() {
    const Identity there = identity_of(file);
    if (store && there == opened) return {};
    store.reset();
    auto found = store::Store::open_read_only(file);
    if (!found) return propagate(found);
    store.emplace(std::move(*found));
    opened = there;
    return {};
  }
};

// The loop's side. What is on its way to the loop holds it weakly.
struct Reader::Queue : std::enable_shared_from_this<Reader::Queue> {
  std::shared_ptr<Thread> thread = std::make_shared<Thread>();
  std::deque<Job> waiting;
  bool busy = false;
  bool started = false;

  void next() {
    while (!busy && !waiting.empty()) {
      Job job = std::move(waiting.front());
      waiting.pop_front();
      if (job.wanted && !job.wanted()) continue;
      if (auto ok = start(); !ok) {
        job.failed(ok.error());
        continue;
      }
      busy = true;
      const auto done = [weak = weak_from_this(),
                         failed = std::move(job.failed)](const Error& error) {
        const auto self = weak.lock();
        if (!self) return;
        self->busy = false;
        self->next();
        if (!error.what.empty()) failed(error);
      };
      const std::lock_guard lock(thread->mutex);
      thread->task = Thread::Task{std::move(job.work), done};
      thread->changed.notify_all();
    }
  }

  Status start() {
    if (started) return {};
    try {
      std::thread([thread = thread] { thread->serve(); }).detach();
    } catch (const std::system_error& error) {
      return tl::unexpected<Error>(thread_trouble(error.what()));
    }
    started = true;
    return {};
  }
};

Reader::Reader(std::filesystem::path database, Post post) : queue_(std::make_shared<Queue>()) {
  queue_->thread->file = std::move(database);
  queue_->thread->post = std::move(post);
}

Reader::~Reader() {
  const std::shared_ptr<Thread> thread = queue_->thread;
  std::unique_lock lock(thread->mutex);
  thread->post = nullptr;
  thread->changed.notify_all();
  if (queue_->started) thread->changed.wait_for(lock, farewell, [&] { return thread->ended; });
}

void Reader::run(Job job) {
  if (queue_->waiting.size() >= most_waiting) {
    return job.failed({ErrorKind::transient, "too many requests wait for the run database", "",
                       "try again in a moment"});
  }
  queue_->waiting.push_back(std::move(job));
  queue_->next();
}

void Reader::answer(std::function<Response(const store::Store&)> read, const Respond& respond) {
  run({[read = std::move(read), respond](const store::Store& store) -> std::function<void()> {
         return [respond, response = read(store)]() mutable { respond(std::move(response)); };
       },
       [respond](const Error& error) { respond(failed(error, 500)); },
       [respond] { return respond.wanted(); }});
}

}  // namespace trainward::api
