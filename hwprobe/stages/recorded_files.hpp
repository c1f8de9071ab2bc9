// The two ends of a stream of readings: RecordingFiles passes on every answer of other Files,
// ReplayFiles gives the recorded answers again.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <utility>

#include "hwprobe/stages/files.hpp"

namespace trainward::hwprobe {

using Emit = std::function<void(const Reading&)>;

class RecordingFiles : public Files {
 public:
  RecordingFiles(Files& files, Emit emit) : files_(files), emit_(std::move(emit)) {}
  Reading answer(std::string_view verb, std::string_view argument) override {
    Reading reading = files_.answer(verb, argument);
    emit_(reading);
    return reading;
  }

 private:
  Files& files_;
  Emit emit_;
};

// The answer for a key that is read more often than it was recorded. For a look that was cut short,
// repeating the last answer would invent one that was never read: a heartbeat that stands still.
enum class Beyond { repeat_the_last, not_recorded };

class ReplayFiles : public Files {
 public:
  // The error of a reading that was never recorded; no errno has this name.
  static constexpr std::string_view not_recorded = "UNRECORDED";

  // `readings` must outlive this.
  ReplayFiles(std::span<const Reading> readings, Beyond beyond);
  Reading answer(std::string_view verb, std::string_view argument) override;

 private:
  struct Answers {
    std::vector<const Reading*> readings;
    std::size_t next = 0;
  };
  std::map<std::string, Answers, std::less<>> answers_;
  Beyond beyond_;
};

}  // namespace trainward::hwprobe
