#include "supervisor/daemon/attempt/foreign_watch.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "common/os/clock.hpp"
#include "common/wire/launch.hpp"

namespace trainward::daemon {
namespace {

// Of a log in one turn of the loop: some two hundred lines, whose events are one transaction.
constexpr std::size_t log_turn_bytes = 16 * 1024;
// For the last look at folders that do not answer.
constexpr std::int64_t give_up_ms = 30'000;

std::int64_t modified_ns(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
}

// Runs on the loop, unless the owner is gone by then.
template <typename Owner, typename Work>
auto while_alive(Owner* owner, const std::shared_ptr<bool>& alive, Work work) {
  return [owner, alive, work = std::move(work)](const auto&... arguments) {
    if (*alive) work(*owner, arguments...);
  };
}

}  // namespace

ForeignWatch::ForeignWatch(Loop& loop, const FileWatcher& watcher, InBackground in_background,
                           foreign::WatchSpec spec, const foreign::Folders& folders,
                           std::filesystem::path attempt_folder, Known known,
                           std::function<void(foreign::Events)> sink)
    : loop_(loop),
      watcher_(watcher.handle()),
      in_background_(std::move(in_background)),
      spec_(std::move(spec)),
      attempt_folder_(std::move(attempt_folder)),
      sink_(std::move(sink)),
      directory_(folders.directory),
      step_at_(std::move(known.step_at)),
      progress_(known.seen_step),
      looks_(std::make_shared<FolderLooks>(
          watcher_, spec_, folders, modified_ns(attempt_folder_ / attempt_files::launch),
          known.kept_step,
          FolderLooks::Listener{
              while_alive(
                  this, alive_,
                  [](auto& self, const FileWatcher::Names& names) { self.on_entries(names); }),
              while_alive(this, alive_, [](auto& self) { self.status_look_.ask(); }),
              while_alive(this, alive_, [](auto& self) { self.checkpoint_look_.ask(); })})),
      status_look_(loop, in_background_,
                   [this, looks = looks_]() -> std::function<void()> {
                     return [this, events = looks->status()] { tell(events); };
                   }),
      checkpoint_look_(loop, in_background_,
                       [this, looks = looks_]() -> std::function<void()> {
                         return [this, found = looks->checkpoints(false)] {
                           tell_checkpoints(found);
                           if (found.waiting) {
                             checkpoint_look_.ask_after(foreign::SettledCheckpoints::settle_ms);
                           }
                         };
                       }),
      give_up_(loop) {
  if (foreign::reads_output(spec_)) {
    if (spec_.preset != "off") {
      recognizer_ = std::make_shared<foreign::Recognizer>(foreign::find_format(spec_.preset),
                                                          known.resume_step);
    }
    // Of what was written meanwhile, bars come before the losses that are told beside them.
    for (const char* name : {attempt_files::standard_error, attempt_files::standard_output}) {
      logs_.push_back({LogTail(attempt_folder_ / name),
                       foreign::LogWatch(spec_.log, folders.directory, recognizer_)});
    }
    watch_logs();
  }
  // What happened before anybody looked; the results come from the loop, when the owner is ready.
  on_entries({});
}

ForeignWatch::~ForeignWatch() { *alive_ = false; }

// ---- the program's folders ----

void ForeignWatch::on_entries(const FileWatcher::Names& names) {
  const bool matters =
      names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return foreign::may_matter(spec_, name);
      });
  if (matters || names.contains(spec_.status_file.filename().string())) status_look_.ask();
  if (matters && !spec_.checkpoints.empty()) checkpoint_look_.ask();
}

// ---- its output ----

void ForeignWatch::watch_logs() {
  watched_logs_.folder(
      watcher_, attempt_folder_,
      while_alive(this, alive_, [](auto& self, const FileWatcher::Names&) { self.watch_logs(); }));
  for (const char* log : {attempt_files::standard_output, attempt_files::standard_error}) {
    watched_logs_.file(watcher_, attempt_folder_ / log,
                       while_alive(this, alive_, [](auto& self) { self.read_logs_soon(); }));
  }
  read_logs_soon();
}

bool ForeignWatch::read_logs() {
  bool all = true;
  for (Log& log : logs_) {
    const std::string bytes = log.tail.read(log_turn_bytes);
    tell_output(log.lines.feed(bytes));
    all = all && bytes.empty();
  }
  return all;
}

// Piece by piece, with a turn for everybody else between two.
void ForeignWatch::read_logs_soon() {
  if (std::exchange(reading_soon_, true)) return;
  loop_.post(while_alive(this, alive_, [](auto& self) {
    self.reading_soon_ = false;
    if (!self.read_logs()) return self.read_logs_soon();
    self.hand_on(self.pace_.rest());
    if (self.recognizer_ && self.progress_.is_behind()) {
      self.recognizer_->go_on_from(self.progress_.seen());
    }
    self.progress_.caught_up();
    if (self.done_) self.look_for_the_last_time();
  }));
}

void ForeignWatch::tell_output(foreign::Events events) {
  hand_on(pace_.keep(progress_.news(std::move(events)), now().mono));
}

void ForeignWatch::hand_on(foreign::Events events) {
  const auto named =
      std::stable_partition(events.begin(), events.end(), [](const core::Event& event) {
        return !std::holds_alternative<core::CheckpointReported>(event);
      });
  foreign::Events checkpoints(std::make_move_iterator(named),
                              std::make_move_iterator(events.end()));
  events.erase(named, events.end());
  if (!events.empty()) sink_(std::move(events));
  if (checkpoints.empty()) return;
  in_background_([this, alive = alive_, looks = looks_,
                  checkpoints = std::move(checkpoints)]() -> std::function<void()> {
    return [this, alive, inside = looks->inside(checkpoints)] {
      if (*alive && !inside.empty()) sink_(inside);
    };
  });
}

void ForeignWatch::tell(foreign::Events events) {
  events = progress_.news(std::move(events));
  if (!events.empty()) sink_(std::move(events));
}

// These are news whatever step was counted last.
void ForeignWatch::tell_checkpoints(const FolderLooks::Found& found) {
  if (recognizer_ && found.log) {
    foreign::Events steps;
    recognizer_->learn(*found.log, steps);
    tell_output(std::move(steps));
  }
  foreign::Events events;
  for (const foreign::PassedOver& passed : found.passed_over) {
    say_why_not(passed.path, passed.reason, events);
  }
  for (const foreign::Candidate& candidate : found.settled) {
    auto step = candidate.step;
    if (!step && step_at_) step = step_at_(candidate.modified_ns / 1'000'000);
    if (step) {
      events.emplace_back(core::CheckpointReported{candidate.path.string(), {*step}});
    } else {
      say_why_not(candidate.path,
                  "there is no step in its name or in it, and none was seen before it was written; "
                  "put the step into the name, as in step500.pt",
                  events);
    }
  }
  if (!events.empty()) sink_(std::move(events));
}

// Once each.
void ForeignWatch::say_why_not(const std::filesystem::path& path, const std::string& why,
                               foreign::Events& events) {
  constexpr std::size_t most = 64;
  const std::string shown = path.lexically_proximate(directory_).string();
  std::string text = fmt::format("{} matches watch.checkpoints and does not count: {}", shown, why);
  if (said_.size() >= most || !said_.insert(text).second) return;
  events.emplace_back(core::Noticed{"checkpoint", std::move(text)});
}

// ---- the end ----

void ForeignWatch::finish(std::function<void()> done) {
  done_ = std::move(done);
  give_up_.after(give_up_ms, [this] {
    spdlog::warn("{}: the program's folders do not answer; its last files are not looked at",
                 attempt_folder_.string());
    end();
  });
  read_logs_soon();
}

void ForeignWatch::look_for_the_last_time() {
  for (Log& log : logs_) tell_output(log.lines.end());
  hand_on(pace_.rest());
  if (!foreign::looks_at_folders(spec_)) return end();
  in_background_([this, alive = alive_, looks = looks_]() -> std::function<void()> {
    auto status = looks->status();
    auto found = looks->checkpoints(true);
    return [this, alive, status = std::move(status), found = std::move(found)] {
      if (!*alive || !done_) return;
      tell(status);
      tell_checkpoints(found);
      end();
    };
  });
}

void ForeignWatch::end() {
  give_up_.cancel();
  if (auto done = std::exchange(done_, nullptr)) done();
}

}  // namespace trainward::daemon
