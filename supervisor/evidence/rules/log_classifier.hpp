// Why a run failed, from its log as it grows: bytes in as they come, a verdict out at the end.
//
// In: pieces of any size of one or more streams (standard output, standard error). Any bytes will
//   do: binary, broken UTF-8, lines without end.
// Out: conclude(): one Finding per rule and stream that matched, weighed (conclusion.hpp).
//
// A finding is overcome when training goes on after it: three different progress lines, or one that
// says that the work is finished, in the same stream. Only its own stream counts, because a program
// that writes to a pipe may hold back output of one stream until it ends.
//
// Memory: a line and a series of findings a stream, whatever the log's length. Cannot fail.
// Threads: one at a time; the matcher is shared and must outlive the classifier.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/line_splitter.hpp"
#include "supervisor/evidence/rules/conclusion.hpp"
#include "supervisor/evidence/rules/line_shape.hpp"
#include "supervisor/evidence/rules/log_matcher.hpp"

namespace trainward::rules {

struct ClassifierLimits {
  std::size_t max_findings = 32;        // the heaviest are kept
  std::size_t max_line_bytes = 65'536;  // the rest of a longer line is not looked at
  std::size_t max_kept_bytes = 500;     // of a line in a Finding
};

class LogClassifier {
 public:
  explicit LogClassifier(const LogMatcher& matcher, const ClassifierLimits& limits = {});

  void feed(std::string_view bytes, int stream = 0);
  // Ends all streams. The classifier may be fed again afterwards and goes on where it was.
  [[nodiscard]] Conclusion conclude(const Ending& ending = {});

 private:
  struct Series {  // lines of one rule with no progress between them
    Strength strength = Strength::hint;
    std::string line;
    std::int64_t line_number = 0;
    std::int64_t last_line = 0;
    std::int64_t count = 0;
    std::int64_t progress = 0;  // the stream's count when the newest came
  };
  struct Stream {
    explicit Stream(std::size_t max_line_bytes) : lines(max_line_bytes) {}
    LineSplitter lines;
    Traceback traceback;
    std::map<RuleId, Series> series;
    std::int64_t progress = 0;
    std::uint64_t last_mark = 0;
    // Of a traceback that a rule knows by its first line alone: what it ends with says more.
    std::optional<RuleId> headed;
    std::string head;  // what a launcher writes in front of each of its lines
  };

  void look_for_end(Stream& stream, std::string_view line, std::int64_t number) const;
  void take_line(Stream& stream, std::string_view line, std::int64_t number);
  void note(Stream& stream, const LogMatcher::LineMatch& match, std::string_view line,
            std::int64_t number) const;

  const LogMatcher* matcher_;
  ClassifierLimits limits_;
  std::map<int, Stream> streams_;
  std::vector<PatternId> candidates_;
  Conclusion totals_;
};

}  // namespace trainward::rules
