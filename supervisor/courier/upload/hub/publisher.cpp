#include "supervisor/courier/upload/hub/publisher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "common/base/utf8.hpp"
#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "supervisor/courier/upload/hub/attributes.hpp"
#include "supervisor/courier/upload/hub/card.hpp"
#include "supervisor/courier/upload/hub/objects.hpp"
#include "supervisor/courier/upload/target/ownership.hpp"
#include "supervisor/courier/upload/target/publication.hpp"

namespace trainward::upload::hub {
namespace {

constexpr int most_races = 6;               // against others who commit, in one call
constexpr std::size_t files_at_once = 256;  // of one question how they go up
// A Hub takes regular files of up to 10 MiB, and not too many bytes of them in one commit.
constexpr std::int64_t longest_as_regular = 4 << 20;
constexpr std::int64_t most_regular = 32 << 20;
constexpr std::int64_t largest_text = 1 << 20;  // of what is read to be changed
constexpr const char* squash_key = "hub/squash";
// When the quota of commits is used up nothing is sent, whichever checkpoint it is: the newest goes
// when its time has come.
constexpr const char* quota_key = "hub/quota-until";
constexpr std::int64_t longest_quota_ms = 2 * 3600 * 1000;
constexpr std::int64_t is_quota_ms = 30 * 60 * 1000;  // no other wait is so long

std::string memory_of(const std::string& program, const std::string& name) {
  return fmt::format("hub/{}/{}/", program, name);
}

std::string commit_key(const std::string& prefix) { return prefix + "commit"; }

std::int64_t size_of(const Package& package) {
  std::int64_t bytes = 0;
  for (const File& file : package.files) bytes += file.size;
  return bytes;
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The card of an exported model is merged with what is there, like any card.
bool is_card(const Package& package, const File& file) {
  return package.form == "folder" && file.name == card_name;
}

// The Hub refuses what git takes for binary in a regular file.
bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && is_utf8(bytes);
}

Status check(const Package& package) {
  const auto bad = [](const std::string& name) {
    return fail(ErrorKind::usage, "cannot be the name of a file in a repository", name,
                "rename it: no empty part, '.', '..', '\\' or control character");
  };
  if (!is_safe_name(package.name) || package.name.find('/') != std::string::npos) {
    return bad(package.name);
  }
  for (const File& file : package.files) {
    if (!is_safe_name(file.name)) return bad(file.name);
  }
  if (package.files.empty() || package.files.size() > most_files) {
    return fail(ErrorKind::usage, fmt::format("has no files, or more than {}", most_files),
                package.name);
  }
  return {};
}

Status check_owner(const Package& package, const Contents& there, Memory& memory,
                   const std::string& where) {
  for (const Record& record : there.records) {
    if (record.program != package.program) {
      return fail(ErrorKind::permanent,
                  fmt::format("holds checkpoints of the program '{}'", record.program), where,
                  "give each program a repository or a revision (a branch) of its own");
    }
  }
  // What is left of a run before ours makes way; who was pushed off the branch has none there.
  const bool ours =
      std::any_of(there.records.begin(), there.records.end(),
                  [&](const Record& record) { return record.remote.run == package.run.id; });
  if (ours) return {};
  for (const Record& record : there.records) {
    if (auto ok = may_publish(package.run, record.remote.run, memory, where); !ok) return ok;
  }
  return {};
}

const Record* record_of(const Contents& there, const std::string& name) {
  const auto found = std::find_if(there.records.begin(), there.records.end(),
                                  [&](const Record& record) { return record.remote.name == name; });
  return found == there.records.end() ? nullptr : &*found;
}

}  // namespace

Status Publisher::forget(const std::string& program, const std::string& name) {
  return memory_.forget(memory_of(program, name));
}

Result<Published> Publisher::publish(const Package& package, const Progress& progress) {
  if (auto ok = check(package); !ok) return propagate(ok);
  const std::string prefix = memory_of(package.program, package.name);
  std::int64_t sent = 0;
  std::optional<Error> in_doubt;
  std::optional<std::string> made;  // the commit, where its answer came
  for (int races = 0; races < most_races; ++races) {
    std::string commit;
    if (made) {
      commit = *made;
    } else {
      auto head = api_.head();
      if (!head) return propagate(head);
      commit = head->commit;
    }
    auto there = read_contents(api_, commit);
    if (!there) return propagate(there);
    if (auto ok = check_owner(package, *there, memory_, api_.shown()); !ok) return propagate(ok);
    const Change change = change_for(package, there->files, there->records);
    auto absent = missing(package, change, *there);
    if (!absent) return propagate(absent);
    const Record* record = record_of(*there, package.name);
    if (absent->empty() && record != nullptr &&
        same_content(record->remote, change.record.remote)) {
      if (progress) progress(size_of(package));
      return finish(package, *record, commit, sent);
    }
    if (made) {
      return fail(ErrorKind::transient, "the commit that was made does not hold the checkpoint",
                  api_.shown(), "it is looked at again with the next try");
    }
    auto settling = settling_ms(prefix);
    if (!settling) return propagate(settling);
    if (*settling > 0) {
      return wait_for(*settling, in_doubt.value_or(Error{
                                     ErrorKind::transient,
                                     "a commit whose answer was lost may still be on its way",
                                     api_.shown(), "the repository is looked at again then"}));
    }
    auto quota = quota_ms();
    if (!quota) return propagate(quota);
    if (*quota > 0) {
      return wait_for(
          *quota,
          {ErrorKind::transient, "the Hub takes only so many commits an hour, and they are used up",
           api_.shown(), "upload less often: every, every_steps or milestones of the target"});
    }
    if (!package.milestone.empty()) {
      auto tagged = is_tagged(package, change.record);
      if (!tagged) return propagate(tagged);
      if (*tagged) {
        if (progress) progress(size_of(package));
        if (auto ok = forget(package.program, package.name); !ok) return propagate(ok);
        return Published{shown_tree(*api_.repository(), change.record.tag), sent};
      }
    }
    auto parts = split(*absent, change);
    if (!parts) return propagate(parts);
    std::int64_t others = size_of(package);
    for (const File* file : parts->objects) others -= file->size;
    const Progress part = [&](std::int64_t bytes) {
      if (progress) progress(others + bytes);
    };
    ObjectSender sender(api_, memory_, prefix + "parts/");
    auto bytes = sender.send(parts->objects, part);
    if (!bytes) return propagate(bytes);
    sent += *bytes;
    auto operations = operations_for(package, change, *there, *parts);
    if (!operations) return propagate(operations);
    if (auto ok = tag_leaving(change, commit); !ok) return propagate(ok);
    if (squashes_) {
      if (auto ok = memory_.put(squash_key, "due"); !ok) return propagate(ok);
    }
    if (auto ok = memory_.put(commit_key(prefix), fmt::to_string(now().wall.ms)); !ok) {
      return propagate(ok);
    }
    Committed committed = api_.commit(*operations, commit);
    if (committed.state == Committed::State::in_doubt) {
      in_doubt = std::move(committed.error);
      in_doubt->kind = ErrorKind::transient;
      continue;
    }
    if (auto ok = memory_.forget(commit_key(prefix)); !ok) return propagate(ok);
    if (committed.state == Committed::State::refused) {
      if (const std::int64_t wait = api_.wait_ms().value_or(0); wait >= is_quota_ms) {
        const std::string until = fmt::to_string(now().wall.ms + wait);
        if (auto ok = memory_.put(quota_key, until); !ok) return propagate(ok);
      }
      return tl::unexpected<Error>(std::move(committed.error));
    }
    if (committed.state == Committed::State::done) made = committed.head.commit;
  }
  return fail(ErrorKind::transient, "is changed by somebody else all the time", api_.shown(),
              "two runs must not share a repository: give each one its own");
}

// A milestone that newer checkpoints have pushed off the branch.
Result<bool> Publisher::is_tagged(const Package& package, const Record& record) {
  for (const std::string& tag : {record.tag, tag_for_other_content(record)}) {
    auto there = read_record(api_, tag, package.name);
    if (!there) return propagate(there);
    if (*there && same_content((*there)->remote, record.remote)) return true;
  }
  return false;
}

Result<std::vector<const File*>> Publisher::missing(const Package& package, const Change& change,
                                                    const Contents& there) {
  std::vector<const File*> out;
  for (const File& file : package.files) {
    if (is_card(package, file)) continue;
    const auto entry = there.files.find(file_path(change.record, file.name));
    if (entry != there.files.end()) {
      auto same = holds(entry->second, file);
      if (!same) return propagate(same);
      if (*same) continue;
    }
    out.push_back(&file);
  }
  return out;
}

Result<Publisher::Split> Publisher::split(const std::vector<const File*>& files,
                                          const Change& change) {
  Modes modes;
  std::vector<Sample> samples;
  const auto ask = [&]() -> Status {
    if (samples.empty()) return {};
    auto some = api_.preupload(samples);
    if (!some) return propagate(some);
    modes.merge(*some);
    samples.clear();
    return {};
  };
  for (const File* file : files) {
    if (file->size == 0) continue;  // always regular
    std::string head(static_cast<std::size_t>(std::min<std::int64_t>(file->size, sample_bytes)),
                     '\0');
    auto got =
        read_at(file->descriptor.get(), std::as_writable_bytes(std::span(head)), 0, file->name);
    if (!got) return propagate(got);
    head.resize(*got);
    samples.push_back({file_path(change.record, file->name), file->size, std::move(head)});
    if (samples.size() < files_at_once) continue;
    if (auto ok = ask(); !ok) return propagate(ok);
  }
  if (auto ok = ask(); !ok) return propagate(ok);
  Split out;
  std::int64_t regular = 0;
  for (const File* file : files) {
    bool as_object = file->size > 0 && modes[file_path(change.record, file->name)];
    if (!as_object && (file->size > longest_as_regular || regular + file->size > most_regular)) {
      as_object = true;
    } else if (!as_object) {
      auto bytes = bytes_of(*file);
      if (!bytes) return propagate(bytes);
      as_object = !is_text(*bytes);
    }
    if (!as_object) regular += file->size;
    (as_object ? out.objects : out.regular).push_back(file);
  }
  return out;
}

Result<Operations> Publisher::operations_for(const Package& package, const Change& change,
                                             const Contents& there, const Split& split) {
  Operations out;
  out.summary = fmt::format("{} (step {})", package.name, package.step);
  for (const File* file : split.objects) {
    out.objects.push_back({file_path(change.record, file->name), file->sha256, file->size});
  }
  for (const File* file : split.regular) {
    auto bytes = bytes_of(*file);
    if (!bytes) return propagate(bytes);
    out.texts.push_back({file_path(change.record, file->name), std::move(*bytes)});
  }
  if (auto ok = add_attributes(out, there); !ok) return propagate(ok);
  if (auto ok = add_texts(out, package, change, there); !ok) return propagate(ok);
  out.deleted = change.deleted;
  return out;
}

Status Publisher::add_attributes(Operations& operations, const Contents& there) {
  std::vector<std::string> objects;
  std::vector<std::string> regular;
  for (const auto& object : operations.objects) objects.push_back(object.path);
  for (const auto& text : operations.texts) regular.push_back(text.path);
  if (missing_lines({}, objects, regular).empty()) return {};
  std::string text;
  const auto entry = there.files.find(std::string(attributes_name));
  if (entry != there.files.end()) {
    if (entry->second.size > largest_text) return {};
    auto known = api_.text(there.revision, entry->first, largest_text);
    if (!known) return propagate(known);
    text = known->value_or("");
  }
  const std::string lines = missing_lines(text, objects, regular);
  if (!lines.empty()) operations.texts.push_back({std::string(attributes_name), text + lines});
  return {};
}

Status Publisher::add_texts(Operations& operations, const Package& package, const Change& change,
                            const Contents& there) {
  const auto put = [&](std::string_view path, std::string text) {
    const auto entry = there.files.find(std::string(path));
    if (entry != there.files.end() && entry->second.blob == git_blob(text)) return;
    operations.texts.push_back({std::string(path), std::move(text)});
  };
  const std::string record = record_text(change.record);
  if (auto ok = check_readable(record, change.record.remote); !ok) return ok;
  put(record_path(package.name), record);
  if (!change.is_newest) return {};
  put(latest_name, latest_text(change.record));
  auto at = api_.repository();
  if (!at) return propagate(at);
  std::string card = plain_card(package, *at, change.record.folder);
  for (const File& file : package.files) {
    if (!is_card(package, file) || file.size > largest_text) continue;
    auto bytes = bytes_of(file);
    if (!bytes) return propagate(bytes);
    card = std::move(*bytes);
  }
  for (const Package::Text& text : package.texts) {
    if (text.name == card_name) {
      card = text.text;
    } else if (is_safe_name(text.name)) {
      put(text.name, text.text);
    }
  }
  std::optional<std::string> old;
  if (const auto entry = there.files.find(std::string(card_name)); entry != there.files.end()) {
    if (entry->second.size > largest_text) return {};
    auto text = api_.text(there.revision, entry->first, largest_text);
    if (!text) return propagate(text);
    old = std::move(*text);
  }
  if (auto merged = merged_card(old, card)) put(card_name, std::move(*merged));
  return {};
}

// A milestone whose process ended between its commit and its tag is tagged before it leaves the
// branch, since nothing would name it afterwards.
Status Publisher::tag_leaving(const Change& change, const std::string& commit) {
  for (const Record& record : change.leaving) {
    if (record.tag.empty()) continue;
    if (auto ok = ensure_tag(record, commit); !ok) return ok;
  }
  return {};
}

Status Publisher::ensure_tag(const Record& record, const std::string& commit) {
  auto made = api_.make_tag(record.tag, commit);
  if (!made) return propagate(made);
  if (*made) return {};
  auto there = read_record(api_, record.tag, record.remote.name);
  if (!there) return propagate(there);
  if (*there && same_content((*there)->remote, record.remote)) return {};
  // Somebody's own tag, or one of a run before this one: it stays.
  auto other = api_.make_tag(tag_for_other_content(record), commit);
  if (!other) return propagate(other);
  return {};
}

Result<std::int64_t> Publisher::settling_ms(const std::string& prefix) {
  auto text = memory_.get(commit_key(prefix));
  if (!text) return propagate(text);
  if (!*text) return 0;
  const std::int64_t began_ms = number_in(**text);
  const std::int64_t whole = api_.times().settle_ms;
  // A clock that was put back does not make it longer.
  return std::clamp<std::int64_t>(began_ms + whole - now().wall.ms, 0, whole);
}

Result<std::int64_t> Publisher::quota_ms() {
  auto text = memory_.get(quota_key);
  if (!text) return propagate(text);
  const std::int64_t until_ms = *text ? number_in(**text) : 0;
  return std::clamp<std::int64_t>(until_ms - now().wall.ms, 0, longest_quota_ms);
}

tl::unexpected<Error> Publisher::wait_for(std::int64_t ms, Error error) {
  api_.ask_to_wait(std::max(ms, api_.wait_ms().value_or(0)));
  return tl::unexpected<Error>(std::move(error));
}

// The history is squashed before the tag is made, so that a tag keeps no older checkpoints alive.
Result<Published> Publisher::finish(const Package& package, const Record& record,
                                    std::string commit, std::int64_t sent_bytes) {
  auto at = api_.repository();
  if (!at) return propagate(at);
  if (squashes_) {
    auto due = memory_.get(squash_key);
    if (!due) return propagate(due);
    if (*due) {
      const std::string message = fmt::format("{} (step {})", package.name, package.step);
      if (auto ok = api_.squash(message); !ok) return propagate(ok);
      if (auto ok = memory_.forget(squash_key); !ok) return propagate(ok);
      auto head = api_.head();
      if (!head) return propagate(head);
      commit = head->commit;
    }
  }
  if (!package.milestone.empty()) {
    Record tagged = record;
    tagged.tag = tag_name(package.milestone);
    if (auto ok = ensure_tag(tagged, commit); !ok) return propagate(ok);
  }
  if (auto ok = note_ownership(package.run, memory_); !ok) return propagate(ok);
  if (auto ok = forget(package.program, package.name); !ok) return propagate(ok);
  return Published{squashes_ ? shown_tree(*at, at->revision) : shown_commit(*at, commit),
                   sent_bytes};
}

}  // namespace trainward::upload::hub
