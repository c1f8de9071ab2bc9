#include "hwprobe/stages/recorded_files.hpp"

#include <fmt/format.h>

namespace trainward::hwprobe {

ReplayFiles::ReplayFiles(std::span<const Reading> readings, Beyond beyond) : beyond_(beyond) {
  for (const Reading& reading : readings) answers_[reading.key].readings.push_back(&reading);
}

Reading ReplayFiles::answer(std::string_view verb, std::string_view argument) {
  std::string key = fmt::format("{} {}", verb, argument);
  const auto found = answers_.find(key);
  if (found == answers_.end()) return {std::move(key), "", std::string(not_recorded)};
  Answers& answers = found->second;
  if (answers.next < answers.readings.size()) return *answers.readings[answers.next++];
  if (beyond_ == Beyond::repeat_the_last) return *answers.readings.back();
  return {std::move(key), "", std::string(not_recorded)};
}

}  // namespace trainward::hwprobe
