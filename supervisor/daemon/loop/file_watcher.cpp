#include "supervisor/daemon/loop/file_watcher.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "common/os/fd.hpp"
#include "supervisor/daemon/loop/watch_limits.hpp"

namespace trainward::daemon {
namespace {

constexpr std::uint32_t file_changes = IN_MODIFY;
constexpr std::uint32_t folder_changes = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE;
// Of names in one call; beyond that nobody wants to go through them one by one.
constexpr std::size_t most_names = 100;
// Reads in one turn of the loop, of 16 KiB: a folder that changes all the time has no end of them.
constexpr int most_reads = 16;

struct Subscriber {
  std::filesystem::path path;
  std::uint32_t mask = 0;
  std::function<void(const FileWatcher::Names&)> changed;
  int watch = -1;       // the kernel's number, one for each file; -1: none yet
  bool silent = false;  // it is polled whether it has a watch or not
};

}  // namespace

// Shared with subscriptions and with the threads that poll: they may outlive the watcher.
struct FileWatcher::Core : std::enable_shared_from_this<FileWatcher::Core> {
  explicit Core(Loop& on) : loop(&on) {}

  // The kernel has one watch a file: what others asked for is added to, not replaced. Slow paths
  // are resolved without the lock; meanwhile no watch is given back, for it may be the same.
  int watch(const std::filesystem::path& path, std::uint32_t mask, int& error) {
    int instance = -1;
    {
      const std::lock_guard lock(mutex);
      instance = inotify.get();
      ++adding;
    }
    if (instance < 0) {
      error = no_instance;
      return -1;
    }
    const int got = ::inotify_add_watch(instance, path.c_str(), mask | IN_MASK_ADD);
    error = got < 0 ? errno : 0;
    return got;
  }
  // After each watch(), once its result is noted.
  void watched() {
    --adding;
    if (adding > 0) return;
    for (const int watch : std::exchange(unused, {})) {
      if (!by_watch.contains(watch)) ::inotify_rm_watch(inotify.get(), watch);
    }
  }

  void remove(int id) {
    {
      const std::lock_guard lock(mutex);
      const auto found = subscribers.find(id);
      if (found == subscribers.end()) return;
      forget_watch(found->second.watch, id);
      subscribers.erase(found);
    }
    polls->remove(id);
  }
  void forget_watch(int watch, int id) {
    if (watch < 0) return;
    const auto [begin, end] = by_watch.equal_range(watch);
    const auto entry = std::find_if(begin, end, [&](const auto& e) { return e.second == id; });
    if (entry != end) by_watch.erase(entry);
    if (by_watch.contains(watch)) return;
    if (adding > 0) return unused.push_back(watch);
    ::inotify_rm_watch(inotify.get(), watch);
  }

  // On the thread that polls: whether the kernel gives a watch by now.
  void retry(int id) {
    std::filesystem::path path;
    std::uint32_t mask = 0;
    bool silent = false;
    {
      const std::lock_guard lock(mutex);
      const auto found = subscribers.find(id);
      if (found == subscribers.end() || found->second.watch >= 0) return;
      path = found->second.path;
      mask = found->second.mask;
      silent = found->second.silent;
      if (!inotify) open();
    }
    int error = 0;
    const int got = watch(path, mask, error);
    bool all = false;
    {
      const std::lock_guard lock(mutex);
      const auto found = subscribers.find(id);
      if (got >= 0 && found != subscribers.end()) {
        found->second.watch = got;
        by_watch.emplace(got, id);
      } else if (got >= 0) {
        unused.push_back(got);
      }
      watched();
      all = std::none_of(subscribers.begin(), subscribers.end(),
                         [](const auto& s) { return s.second.watch < 0; });
      if (all) all = std::exchange(starved, false);
    }
    if (got >= 0 && !silent) polls->remove(id);
    if (!all) return;
    say("the kernel grants file watches again: every file is watched, and none is polled for lack "
        "of one");
  }

  void open() {
    inotify = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    no_instance = inotify ? 0 : errno;
    if (inotify) on_loop([](FileWatcher& owner) { owner.listen(); });
  }

  void say(std::string text) {
    on_loop([this, text = std::move(text)](FileWatcher&) {
      if (says) says(text);
    });
  }
  // `work` runs on the loop, unless the watcher is gone by then.
  template <typename Work>
  void on_loop(Work work) {
    const std::lock_guard lock(posting);
    if (loop == nullptr) return;
    loop->post([core = shared_from_this(), work = std::move(work)] {
      if (core->owner != nullptr) work(*core->owner);
    });
  }
  // On the loop.
  void tell(int id, const Names& names) {
    std::function<void(const Names&)> changed;  // it may remove itself
    {
      const std::lock_guard lock(mutex);
      const auto found = subscribers.find(id);
      if (found == subscribers.end()) return;
      changed = found->second.changed;
    }
    changed(names);
  }

  std::mutex posting;
  Loop* loop;                    // guarded by posting; null once the watcher is gone
  FileWatcher* owner = nullptr;  // of the loop's thread, like the next
  std::function<void(const std::string&)> says;

  std::mutex mutex;  // guards what follows
  Fd inotify;
  int no_instance = 0;  // why no instance could be created
  std::map<int, Subscriber> subscribers;
  std::multimap<int, int> by_watch;
  std::vector<int> unused;  // watches to be given back
  std::set<std::string> told;
  int next_id = 0;
  int adding = 0;
  bool starved = false;  // somebody got no watch
  std::unique_ptr<FilePolls> polls;
};

FileWatcher::Subscription::Subscription(Subscription&& other) noexcept
    : core_(std::move(other.core_)), id_(other.id_) {}
FileWatcher::Subscription& FileWatcher::Subscription::operator=(Subscription&& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(id_, other.id_);
  return *this;
}
FileWatcher::Subscription::~Subscription() {
  if (core_) core_->remove(id_);
}

FileWatcher::FileWatcher(Loop& loop, std::function<void(const std::string&)> says,
                         FilePolls::Rhythm rhythm)
    : loop_(loop), core_(std::make_shared<Core>(loop)) {
  core_->owner = this;
  core_->says = std::move(says);
  const std::weak_ptr<Core> weak = core_;
  core_->polls = std::make_unique<FilePolls>(
      rhythm,
      FilePolls::Listener{[weak](std::vector<int> ids) {
                            const auto core = weak.lock();
                            if (!core) return;
                            core->on_loop([core = core.get(), ids = std::move(ids)](FileWatcher&) {
                              for (const int id : ids) core->tell(id, {});
                            });
                          },
                          [weak](int id) {
                            if (const auto core = weak.lock()) core->retry(id);
                          }});
  core_->open();
}

FileWatcher::~FileWatcher() {
  core_->owner = nullptr;
  const std::lock_guard lock(core_->posting);
  core_->loop = nullptr;
}

void FileWatcher::listen() {
  watch_.emplace(loop_, core_->inotify.get(), [this] { drain(); });
}

Result<FileWatcher::Subscription> FileWatcher::Handle::add(const std::filesystem::path& file,
                                                           std::function<void()> changed) const {
  return subscribe(file, file_changes, [changed = std::move(changed)](const Names&) { changed(); });
}

Result<FileWatcher::Subscription> FileWatcher::Handle::add_folder(
    const std::filesystem::path& folder, std::function<void(const Names&)> changed) const {
  return subscribe(folder, folder_changes | IN_ONLYDIR, std::move(changed));
}

Result<FileWatcher::Subscription> FileWatcher::Handle::subscribe(
    const std::filesystem::path& path, std::uint32_t mask,
    std::function<void(const Names&)> changed) const {
  Core& core = *core_;
  const auto silent = silent_file_system(path);
  int error = 0;
  const int watch = core.watch(path, mask, error);
  std::string news;
  int id = 0;
  {
    const std::lock_guard lock(core.mutex);
    if (watch < 0 && is_of_the_path(error)) {
      core.watched();
      return fail_errno(error, "watch", path.string());
    }
    id = ++core.next_id;
    core.subscribers[id] = {path, mask, std::move(changed), watch, silent.has_value()};
    if (watch >= 0) core.by_watch.emplace(watch, id);
    core.watched();
    if (watch < 0 && !std::exchange(core.starved, true)) news = why_polled(error);
    if (watch >= 0 && silent && core.told.insert(*silent).second) {
      news = fmt::format(
          "{} lies on a file system ({}) that does not tell of every change: files there are also "
          "looked at once a second",
          path.string(), *silent);
    }
  }
  Subscription subscription(core_, id);
  if (!news.empty()) core.say(std::move(news));
  if (watch >= 0 && !silent) return subscription;
  if (auto polled = core.polls->add(id, path); !polled) return propagate(polled);
  return subscription;
}

void FileWatcher::drain() {
  // Many changes of one file are one callback: the reader reads all there is anyway.
  std::map<int, std::optional<Names>> changed;  // nothing: nobody knows which
  alignas(inotify_event) std::array<char, 16 * 1024> buffer{};
  const auto note = [&](int id, const inotify_event& event) {
    auto& names = changed.try_emplace(id, Names()).first->second;
    if (event.len == 0 || (names && names->size() >= most_names)) names.reset();
    if (names) names->insert(event.name);
  };
  int reads = 0;
  for (; reads < most_reads; ++reads) {
    const ssize_t got = ::read(core_->inotify.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    const std::lock_guard lock(core_->mutex);
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        for (const auto& [id, subscriber] : core_->subscribers) note(id, *event);
        continue;
      }
      const auto [begin, end] = core_->by_watch.equal_range(event->wd);
      for (auto entry = begin; entry != end; ++entry) {
        const Subscriber& subscriber = core_->subscribers.at(entry->second);
        if ((subscriber.mask & event->mask) != 0) note(entry->second, *event);
      }
    }
  }
  for (const auto& [id, names] : changed) core_->tell(id, names.value_or(Names()));
  // The rest in the next turn.
  if (reads == most_reads) core_->on_loop([](FileWatcher& owner) { owner.drain(); });
}

}  // namespace trainward::daemon
