// What the files of one attempt say, as the audit needs it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainward::chaos {

struct JournalFacts {
  std::vector<std::int64_t> steps;  // of heartbeats, as they came
  std::int64_t dropped_messages = 0;
  std::int64_t dropped_lines = 0;  // of the logs
  bool began = false;              // there was a shim
  bool ended = false;              // the shim lived to see the end
  std::optional<int> code;
  std::optional<int> signal;
};
JournalFacts read_journal_facts(const std::filesystem::path& attempt);

struct LogFacts {
  std::int64_t lines = 0;          // numbered lines that are there
  std::int64_t dropped_lines = 0;  // that notices in the log account for
  bool torn = false;               // the last line has no end
  std::string problem;             // the first line that is not what must follow; empty: none
};
LogFacts read_log_facts(const std::filesystem::path& attempt);

}  // namespace trainward::chaos
