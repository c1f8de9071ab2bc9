#include "supervisor/process/shim/disk/attempt_journal.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "supervisor/process/shim/disk/journal_fold.hpp"

namespace trainward::shim {
namespace {

constexpr std::int64_t between_complaints_ms = 60'000;
// A disk that has no room for another file may have some for a record.
constexpr std::int64_t next_try_bytes = 1024 * 1024;
constexpr const char* set_aside = ".set-aside";

}  // namespace

Status AttemptJournal::append(const QueuedRecord& record) {
  if (!identity_.members().empty()) look_after(record.at);
  if (record.type == "started") return start(record);
  const std::int64_t offset = writer_.end();
  auto ok = writer_.append(record.type, record.fields, record.at, record.sync);
  if (ok) remember(record, offset);
  return ok;
}

Status AttemptJournal::start(const QueuedRecord& record) {
  JsonText fields;
  fields.add("version", journal_version_of_one_file).add_members(record.fields);
  auto ok = writer_.append(record.type, fields, record.at, record.sync);
  if (ok) identity_ = record.fields;
  return ok;
}

void AttemptJournal::remember(const QueuedRecord& record, std::int64_t offset) {
  if (record.kind.empty() || record.kind == "other" || record.type != "message") return;
  std::erase_if(newest_, [&](const Newest& one) { return one.kind == record.kind; });
  newest_.push_back({record.kind, record.fields, record.at, offset});
}

void AttemptJournal::look_after(Time at) {
  const JournalWriter::Place place = writer_.look();
  if (place != JournalWriter::Place::ours) return complain(make_anew(place, at), at);
  if (writer_.size() < next_file_at_) return;
  if (go_on_in_the_next(at)) {
    next_file_at_ = limits_.file_bytes;
  } else {
    next_file_at_ = writer_.size() + next_try_bytes;
  }
}

void AttemptJournal::move_to(std::shared_ptr<const Folder> folder, Time at) {
  writer_.move_to(std::move(folder));
  if (!identity_.members().empty()) complain(make_anew(JournalWriter::Place::taken, at), at);
}

// Into the place of the older file, which is thinned out first.
Status AttemptJournal::keep_as_older() const {
  const Folder& folder = writer_.folder();
  auto ok = fold_journal(folder, writer_.name(), limits_.thinned_bytes);
  if (ok) ok = folder.rename(writer_.name(), writer_.name() + journal_files::older);
  return ok;
}

Status AttemptJournal::go_on_in_the_next(Time at) {
  if (auto ok = keep_as_older(); !ok) return ok;
  JsonText started;
  started.add("why", "full").add("version", journal_version);
  started.add_members(identity_);
  return writer_.begin_anew(started, at);
}

Status AttemptJournal::make_anew(JournalWriter::Place place, Time at) {
  const Folder& folder = writer_.folder();
  const auto there = folder.look(writer_.name());
  const bool has_records =
      place == JournalWriter::Place::cut && there && *there && (*there)->st_size > 0;
  if (has_records) {
    if (auto ok = keep_as_older(); !ok) return ok;
  } else if (there && *there && S_ISDIR((*there)->st_mode)) {
    auto ok = folder.rename(writer_.name(), writer_.name() + set_aside, Folder::Existing::keep);
    if (!ok) return ok;
  }
  JsonText started;
  started.add("why", place == JournalWriter::Place::cut ? "cut" : "taken");
  started.add("version", journal_version);
  started.add_members(identity_);
  if (auto ok = writer_.begin_anew(started, at); !ok) return ok;
  for (const Newest& one : newest_) {
    JsonText fields;
    fields.add("again", true).add("at", one.offset);
    fields.add_members(one.fields);
    if (auto ok = writer_.append("message", fields, one.at, false); !ok) return ok;
  }
  return {};
}

void AttemptJournal::complain(const Status& status, Time at) {
  if (at.mono.ms < silent_until_ms_) return;
  silent_until_ms_ = at.mono.ms + between_complaints_ms;
  if (status) {
    std::fputs(
        "trainward-shim: somebody has taken, emptied or cut the journal; it was restarted with "
        "where the worker is\n",
        stderr);
    return;
  }
  std::fprintf(stderr,
               "trainward-shim: the journal is gone and cannot be recreated: %s; the worker trains "
               "on, and each record tries again\n",
               status.error().message().c_str());
}

}  // namespace trainward::shim
