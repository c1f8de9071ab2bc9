#include "supervisor/courier/tracking/run_writer.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <span>
#include <utility>

#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_record.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_wire.hpp"

namespace trainward::tracking {
namespace {

constexpr std::int64_t keep_every_ms = 60'000;
constexpr std::int64_t keep_every_bytes = 256 * 1024;
// What is read of a file behind the cursor; more is never written between two of them.
constexpr std::int64_t longest_tail = 64 * 1024 * 1024;

constexpr std::size_t seal_bytes = 4;
constexpr std::int64_t seal_size = seal_bytes;

// The last bytes of a record: a checksum.
std::int64_t seal_of(std::string_view records) {
  if (records.size() < seal_bytes) return -1;
  return static_cast<std::int64_t>(read_fixed(records.substr(records.size() - seal_bytes)));
}

struct Cursor {
  std::string run;
  std::int64_t attempt = 0;
  std::string file;
  std::int64_t size = 0;
  std::int64_t seal = 0;
  bool hparams = false;
  bool closed = false;
  Position position;
};

std::string text_of(const Cursor& cursor) {
  const Position& at = cursor.position;
  return json::serialize(json::object{{"run", cursor.run},
                                      {"attempt", cursor.attempt},
                                      {"file", cursor.file},
                                      {"size", cursor.size},
                                      {"seal", cursor.seal},
                                      {"hparams", cursor.hparams},
                                      {"closed", cursor.closed},
                                      {"begun", at.begun},
                                      {"any_step", at.any_step},
                                      {"step", at.step},
                                      {"evaluation", at.evaluation},
                                      {"board_ms", at.board_ms},
                                      {"goodput_ms", at.goodput_ms},
                                      {"goodput_step", at.goodput_step}});
}

std::optional<Cursor> cursor_in(const std::string& text) {
  const auto value = parse_json(text, "cursor");
  if (!value || !value->is_object()) return std::nullopt;
  const json::object& object = value->get_object();
  Cursor cursor;
  cursor.run = string_or(object, "run", "");
  cursor.attempt = int_or(object, "attempt", 0);
  cursor.file = string_or(object, "file", "");
  cursor.size = int_or(object, "size", -1);
  cursor.seal = int_or(object, "seal", 0);
  cursor.hparams = bool_or(object, "hparams", false);
  cursor.closed = bool_or(object, "closed", false);
  cursor.position = {bool_or(object, "begun", false),   bool_or(object, "any_step", false),
                     int_or(object, "step", 0),         int_or(object, "evaluation", -1),
                     int_or(object, "board_ms", 0),     int_or(object, "goodput_ms", 0),
                     int_or(object, "goodput_step", -1)};
  if (cursor.attempt <= 0 || cursor.file.empty() || cursor.size < seal_size) return std::nullopt;
  if (cursor.file.find('/') != std::string::npos) return std::nullopt;
  return cursor;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  std::string out = name.data();
  std::erase_if(out,
                [](unsigned char c) { return c >= 0x80 || (std::isalnum(c) == 0 && c != '-'); });
  return out.empty() ? "host" : out;
}

Result<std::optional<std::string>> run_identity(const store::Store& store,
                                                const std::string& program) {
  auto first = store.attempt_from(program, 0);
  if (!first) return propagate(first);
  if (!*first) return std::optional<std::string>();
  return std::optional(fmt::format("{}-{}", (*first)->intended_ms, (*first)->nonce));
}

void RunWriter::forget() {
  open_.reset();
  folder_.reset();
  logs_.reset();
  timeline_ = {};
  events_ = AttemptEvents(options_.program, options_.every);
  first_attempt_ = 0;
  next_attempt_ = 0;
  building_ = false;
  built_.clear();
}

Status RunWriter::advance(const store::Store& store, std::int64_t now_ms, const Stop& stop) {
  auto run = run_identity(store, options_.program);
  if (!run) return propagate(run);
  if (!*run) return {};  // nothing has been done yet
  if (**run != run_ || building_ || !still_ours()) {
    forget();
    run_ = **run;
    auto reopened = reopen(store);
    if (!reopened) {
      forget();
      return propagate(reopened);
    }
    if (!*reopened) return rewrite(store, now_ms, stop);
  }
  for (;;) {
    auto more = write_more(store, now_ms);
    if (!more) {
      forget();
      return propagate(more);
    }
    if (!*more || stop()) break;
  }
  const bool due = now_ms - kept_ms_ >= keep_every_ms || now_ms < kept_ms_ || stop();
  if (open_ && due && open_->size != kept_size_) return keep_cursor(now_ms);
  return {};
}

Status RunWriter::rewrite(const store::Store& store, std::int64_t now_ms, const Stop& stop) {
  forget();
  auto run = run_identity(store, options_.program);
  if (!run) return propagate(run);
  if (!*run) return {};
  run_ = **run;
  const auto build = [&]() -> Status {
    auto logs = LogFolder::open(options_.folder);
    if (!logs) return propagate(logs);
    logs_ = std::move(*logs);
    auto folder = logs_->build(mark());
    if (!folder) return propagate(folder);
    folder_ = std::move(*folder);
    building_ = true;
    for (;;) {
      auto more = write_more(store, now_ms);
      if (!more) return propagate(more);
      if (!*more) break;
      if (stop()) return fail(ErrorKind::transient, "stopped before it was whole");
    }
    if (open_ && ::syncfs(open_->file.get()) != 0) {
      return fail_errno(errno, "write it", folder_->path().string());
    }
    auto published = logs_->publish(mark(), built_);
    if (!published) return propagate(published);
    folder_ = std::move(*published);
    building_ = false;
    if (open_) open_->name = built_.back();
    built_.clear();
    return open_ ? keep_cursor(now_ms) : Status();
  };
  auto built = build();
  if (!built) forget();
  return built;
}

// ---- finding the place again ----

bool RunWriter::still_ours() const {
  if (!folder_) return false;
  if (!open_) return true;
  struct stat info {};
  return folder_->has(open_->name, open_->file) && ::fstat(open_->file.get(), &info) == 0 &&
         info.st_size == open_->size;
}

// False: it must be rewritten.
Result<bool> RunWriter::reopen(const store::Store& store) {
  auto text = memory_.get();
  if (!text) return propagate(text);
  const auto cursor = cursor_in(*text);
  if (!cursor || cursor->run != run_) return false;
  auto logs = LogFolder::open(options_.folder);
  if (!logs) return propagate(logs);
  logs_ = std::move(*logs);
  auto folder = logs_->find(mark());
  if (!folder) return false;
  folder_ = std::move(*folder);
  auto first = store.attempt_from(options_.program, 0);
  if (!first) return propagate(first);
  first_attempt_ = (*first)->number;
  Open open;
  for (std::int64_t number = first_attempt_; number <= cursor->attempt;) {
    auto row = store.attempt_from(options_.program, number);
    if (!row) return propagate(row);
    if (!*row || (*row)->number > cursor->attempt) return false;
    auto place = timeline_.begin(store, **row);
    if (!place) return propagate(place);
    if ((*row)->number < cursor->attempt) {
      timeline_.ended(**row, *place);
    } else {
      open.attempt = std::move(**row);
      open.place = std::move(*place);
    }
    number = (*row)->number + 1;
  }
  // Another attempt of that number: the database was put back from a copy, and went on otherwise.
  if (file_name(open.place, open.attempt.number) != cursor->file) return false;
  open.name = cursor->file;
  open.position = cursor->position;
  open.hparams = cursor->hparams;
  open.closed = cursor->closed;
  auto file = folder_->file(open.name, false);
  if (!file) return false;
  open.file = std::move(*file);
  struct stat info {};
  if (::fstat(open.file.get(), &info) != 0) return fail_errno(errno, "look at it", open.name);
  if (info.st_size < cursor->size || info.st_size - cursor->size > longest_tail) return false;
  std::array<char, seal_bytes> seal{};
  auto sealed = read_at(open.file.get(), std::as_writable_bytes(std::span(seal)),
                        static_cast<std::uint64_t>(cursor->size) - seal_bytes, open.name);
  if (!sealed) return propagate(sealed);
  open.seal = seal_of({seal.data(), *sealed});
  if (open.seal != cursor->seal) return false;  // not what was written there
  if (auto read = reopen_file(cursor->size, open); !read) return propagate(read);
  next_attempt_ = open.attempt.number;
  kept_size_ = cursor->size;
  open_ = std::move(open);
  return true;
}

// Goes on behind the last whole record from `from` on, where a record ends.
Status RunWriter::reopen_file(std::int64_t from, Open& open) {
  const std::string where = (folder_->path() / open.name).string();
  struct stat info {};
  if (::fstat(open.file.get(), &info) != 0) return fail_errno(errno, "look at it", where);
  std::string tail(static_cast<std::size_t>(std::max<std::int64_t>(info.st_size - from, 0)), '\0');
  auto size = read_at(open.file.get(), std::as_writable_bytes(std::span(tail)),
                      static_cast<std::uint64_t>(from), where);
  if (!size) return propagate(size);
  std::string_view rest = std::string_view(tail).substr(0, *size);
  open.size = from;
  while (const auto record = first_record(rest)) {
    const auto event = seen_event(record->data);
    if (!event) break;
    const bool begun = open.position.begun;
    tracking::advance(open.position, *event);
    if (event->starts) open.started = true;
    if (event->stops) open.closed = true;
    for (const std::string& tag : event->tags) {
      if (tag == "_hparams_/session_start_info") open.hparams = true;
      // Where it begins, verdicts of others are told.
      if (tag == tags::verdict && begun) open.told_end = true;
    }
    open.size += static_cast<std::int64_t>(record->size);
    open.seal = seal_of(rest.substr(0, record->size));
    rest.remove_prefix(record->size);
  }
  if (!rest.empty() && ::ftruncate(open.file.get(), open.size) != 0) {
    return fail_errno(errno, "cut its torn end off", where);
  }
  if (::lseek(open.file.get(), open.size, SEEK_SET) < 0) return fail_errno(errno, "go on", where);
  return {};
}

// ---- writing ----

std::string RunWriter::file_name(const Place& place, std::int64_t attempt) const {
  return fmt::format("events.out.tfevents.{:010}.{}.{:08}", place.second, options_.host, attempt);
}

// Whether there is more to do at once.
Result<bool> RunWriter::write_more(const store::Store& store, std::int64_t now_ms) {
  if (!open_ || open_->closed) return next_attempt(store);
  Open& open = *open_;
  auto more = read_more(store, open);
  if (!more) return more;
  if (auto written = append(open); !written) return propagate(written);
  if (*more) {
    if (!building_ && open.size - kept_size_ >= keep_every_bytes) {
      if (auto kept = keep_cursor(now_ms); !kept) return propagate(kept);
    }
    return true;
  }
  if (open.attempt.ended_ms == 0) return false;
  if (auto closed = close(store, now_ms); !closed) return propagate(closed);
  return true;
}

// What comes next, for append(); whether there is more behind it. The database is held as it is for
// as long as that takes.
Result<bool> RunWriter::read_more(const store::Store& store, Open& open) {
  const auto snapshot = store.snapshot();
  auto row = store.attempt_from(options_.program, open.attempt.number);
  if (!row) return propagate(row);
  if (!*row || (*row)->number != open.attempt.number) {
    return fail(ErrorKind::corrupt, "an attempt is gone from the run database", options_.program,
                "its files are rewritten");
  }
  open.attempt = std::move(**row);
  if (open.attempt.number == first_attempt_ && !open.hparams) {
    if (!options_.hparams.empty()) {
      open.encoder.hparams(began_ms(open.attempt), 0, options_.program, options_.hparams);
    }
    open.hparams = true;
  }
  auto batch = events_.next(store, open.attempt, open.place, open.position);
  if (!batch) return propagate(batch);
  for (const Event& event : batch->events) open.encoder.add(event);
  return batch->more;
}

Result<bool> RunWriter::next_attempt(const store::Store& store) {
  // The last one stays open until there is another: where it ended is what the cursor says.
  auto row =
      store.attempt_from(options_.program, open_ ? open_->attempt.number + 1 : next_attempt_);
  if (!row) return propagate(row);
  if (!*row) return false;
  auto shows = Timeline::shows(store, **row);
  if (!shows) return propagate(shows);
  if (!*shows) return false;
  if (open_) timeline_.ended(open_->attempt, open_->place);
  open_.reset();
  next_attempt_ = (*row)->number;
  if (first_attempt_ == 0) first_attempt_ = (*row)->number;
  auto place = timeline_.begin(store, **row);
  if (!place) return propagate(place);
  if (auto begun = begin_file(store, **row, std::move(*place)); !begun) return propagate(begun);
  return true;
}

Status RunWriter::begin_file(const store::Store& store, const store::AttemptRow& attempt,
                             Place place) {
  Open open;
  open.attempt = attempt;
  open.place = std::move(place);
  open.name = file_name(open.place, attempt.number);
  if (building_) {
    built_.push_back(open.name);
    open.name = LogFolder::part_name(built_.size());
  }
  auto position = events_.begin(store, open.attempt, open.place);
  if (!position) return propagate(position);
  open.position = *position;
  auto file = folder_->file(open.name, true);
  if (!file) return propagate(file);
  open.file = std::move(*file);
  fault_point("tracking.file_made");
  // It is there already when a writer died before it could note that.
  if (auto read = reopen_file(0, open); !read) return read;
  if (!open.started) {
    if (::ftruncate(open.file.get(), 0) != 0 || ::lseek(open.file.get(), 0, SEEK_SET) < 0) {
      return fail_errno(errno, "begin it", (folder_->path() / open.name).string());
    }
    open.size = 0;
    open.position = *position;
    open.encoder.version(began_ms(open.attempt));
    open.encoder.start(began_ms(open.attempt), open.place.start);
    if (auto written = append(open); !written) return written;
  }
  open_ = std::move(open);
  return building_ ? Status() : folder_->sync();
}

Status RunWriter::close(const store::Store& store, std::int64_t now_ms) {
  Open& open = *open_;
  auto event = events_.end(store, open.attempt, open.place, open.position);
  if (!event) return propagate(event);
  if (!open.told_end) open.encoder.add(*event);
  if (open.attempt.cause == "done") {
    open.encoder.hparams_end(event->at_ms, event->step, true);
  }
  open.encoder.stop(event->at_ms, event->step);
  if (auto written = append(open); !written) return written;
  open.closed = true;
  return building_ ? Status() : keep_cursor(now_ms);
}

Status RunWriter::append(Open& open) const {
  const std::string records = open.encoder.take();
  if (records.empty()) return {};
  auto written = write_all(open.file.get(), records, folder_->path() / open.name);
  if (!written) return written;
  open.size += static_cast<std::int64_t>(records.size());
  open.seal = seal_of(records);
  fault_point("tracking.appended");
  return {};
}

// What the cursor says is on the disk before it does.
Status RunWriter::keep_cursor(std::int64_t now_ms) {
  const Open& open = *open_;
  if (::fdatasync(open.file.get()) != 0) {
    return fail_errno(errno, "write it", (folder_->path() / open.name).string());
  }
  auto kept = memory_.put(text_of({run_, open.attempt.number, open.name, open.size, open.seal,
                                   open.hparams, open.closed, open.position}));
  if (!kept) return kept;
  fault_point("tracking.cursor");
  kept_ms_ = now_ms;
  kept_size_ = open.size;
  return {};
}

}  // namespace trainward::tracking
