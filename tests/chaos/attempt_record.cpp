#include "attempt_record.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "common/wire/journal.hpp"
#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"

namespace trainward::chaos {
namespace {

std::optional<std::int64_t> step_of(const JournalRecord& record) {
  auto fields = get_object(record.fields, "fields");
  if (!fields) return std::nullopt;
  const std::string text = string_or(**fields, "STEP", "");
  char* end = nullptr;
  errno = 0;
  const std::int64_t step = std::strtoll(text.c_str(), &end, 10);
  // Rubbish that was sent on purpose is in the journal too.
  if (errno != 0 || end == text.c_str() || step <= 0) return std::nullopt;
  return step;
}

void take(const JournalRecord& record, JournalFacts& facts) {
  if (record.type == "dropped") {
    facts.dropped_messages += int_or(record.fields, "messages", 0);
    facts.dropped_lines += int_or(record.fields, "log_lines", 0);
  }
  if (record.type == "started") facts.began = true;
  if (record.type == "exec_failed") facts.ended = true;
  // What is told once more after a journal was made anew was a heartbeat before.
  if (record.type == "message" && !bool_or(record.fields, "again", false)) {
    if (const auto step = step_of(record)) facts.steps.push_back(*step);
  }
  if (record.type != "exited") return;
  facts.ended = true;
  if (record.fields.contains("code"))
    facts.code = static_cast<int>(int_or(record.fields, "code", 0));
  if (record.fields.contains("signal")) {
    facts.signal = static_cast<int>(int_or(record.fields, "signal", 0));
  }
}

}  // namespace

JournalFacts read_journal_facts(const std::filesystem::path& attempt) {
  JournalFacts facts;
  std::int64_t offset = 0;
  for (bool more = true; more;) {
    auto batch = read_journal(attempt / attempt_files::journal, offset);
    if (!batch) return facts;
    for (const JournalRecord& record : batch->records) take(record, facts);
    offset = batch->next_offset;
    more = batch->more;
  }
  return facts;
}

LogFacts read_log_facts(const std::filesystem::path& attempt) {
  LogFacts facts;
  constexpr std::int64_t all = std::int64_t{1} << 32;
  auto log = read_log(attempt / attempt_files::standard_output, 0, all);
  if (!log) return facts;
  std::int64_t next = 0;
  for (std::string_view rest = log->bytes; !rest.empty();) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) {
      facts.torn = true;
      break;
    }
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    long long bytes = 0;
    long long lines = 0;
    if (std::sscanf(line.c_str(), "trainward: %lld bytes (%lld lines)", &bytes, &lines) == 2) {
      facts.dropped_lines += lines;
      next += lines;
    } else if (line == fmt::format("line {:09}", next)) {
      ++facts.lines;
      ++next;
    } else if (facts.problem.empty()) {
      facts.problem = fmt::format("expected line {}, found '{}'", next, line.substr(0, 80));
    }
  }
  return facts;
}

}  // namespace trainward::chaos
