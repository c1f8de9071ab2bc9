#include "hwprobe/stages/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/line_splitter.hpp"
#include "common/base/text.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::string_view head = "# trainward-probe recording 1";
constexpr std::size_t max_recorded_line_bytes = 64 * 1024;
constexpr std::size_t max_boards = 64;
constexpr std::size_t max_stages = 16;

// Endings as one word: "stuck-in-kernel".
std::string word(Ending ending) {
  std::string text(to_string(ending));
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

std::optional<Ending> ending_of(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(Ending::not_started); ++i) {
    if (word(static_cast<Ending>(i)) == text) return static_cast<Ending>(i);
  }
  return std::nullopt;
}

// Takes the first word off `rest`.
std::string_view next_word(std::string_view& rest) {
  const auto end = std::min(rest.find(' '), rest.size());
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return first;
}

class Reader {
 public:
  Status take(std::string_view line, std::int64_t number) {
    const std::string_view bare = trim(line);
    if (bare.empty() || bare.starts_with('#')) return {};
    auto reading = parse_reading(line);
    if (!reading) return bad(number, "is not a reading");
    if (reading->key == "stage") return begin(reading->value, number);
    if (stage_ == nullptr) return bad(number, "comes before any 'stage = BOARD NAME'");
    if (reading->key == "end") return end(reading->value, number);
    stage_->readings.push_back(std::move(*reading));
    return {};
  }

  std::vector<BoardLook> looks;

 private:
  static Status bad(std::int64_t number, std::string what) {
    return fail(ErrorKind::corrupt, std::move(what), fmt::format("line {}", number));
  }

  Status begin(std::string_view value, std::int64_t number) {
    const std::string_view board = next_word(value);
    if (board.empty()) return bad(number, "names no board");
    auto look = std::find_if(looks.begin(), looks.end(),
                             [&](const BoardLook& known) { return known.board == board; });
    if (look == looks.end()) {
      if (looks.size() == max_boards) return bad(number, "names too many boards");
      looks.push_back({std::string(board), {}});
      look = std::prev(looks.end());
    }
    if (look->stages.size() == max_stages) return bad(number, "is one stage too many");
    look->stages.push_back(
        {std::string(value), Ending::deadline, "the recording ends here", {}, 0});
    stage_ = &look->stages.back();
    return {};
  }

  Status end(std::string_view value, std::int64_t number) {
    const auto ending = ending_of(next_word(value));
    if (!ending) return bad(number, "has an unknown ending");
    const std::string_view time = next_word(value);
    std::from_chars(time.data(), time.data() + time.size(), stage_->took_ms);
    stage_->took_ms = std::max<std::int64_t>(stage_->took_ms, 0);
    stage_->ending = *ending;
    stage_->detail = std::string(value);
    stage_ = nullptr;
    return {};
  }

  StageResult* stage_ = nullptr;
};

}  // namespace

std::string to_text(const std::vector<BoardLook>& looks) {
  std::string text(head);
  text += '\n';
  const auto line = [&](const Reading& reading) { text += format(reading) + '\n'; };
  for (const BoardLook& look : looks) {
    for (const StageResult& stage : look.stages) {
      line({"stage", fmt::format("{} {}", look.board, stage.stage), ""});
      for (const Reading& reading : stage.readings) line(reading);
      line({"end", fmt::format("{} {} {}", word(stage.ending), stage.took_ms, stage.detail), ""});
    }
  }
  return text;
}

Result<std::vector<BoardLook>> looks_from_text(std::string_view text) {
  if (!text.starts_with(head)) {
    return fail(ErrorKind::corrupt, "is not a recording of trainward-probe");
  }
  Reader reader;
  Status status;
  const auto visit = [&](std::string_view line, std::int64_t number) {
    if (status) status = reader.take(line, number);
  };
  LineSplitter lines(max_recorded_line_bytes);
  lines.feed(text, visit);
  // A last line without an end was cut, and may say less than was read.
  if (!status) return propagate(status);
  return std::move(reader.looks);
}

}  // namespace trainward::hwprobe
