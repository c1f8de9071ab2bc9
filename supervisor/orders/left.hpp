// What has not left the box yet, as the courier tells it while its daemon waits to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::orders {

// A line of the courier's input: the daemon is about to end, so whatever may leave does so now. It
// answers with a line of Left every now and then.
inline constexpr std::string_view leave_word = "leave";

struct Left {
  struct Job {
    std::string name;          // "upload trainer/hub", "channel night"
    std::int64_t done = 0;     // bytes that have arrived
    std::int64_t of = 0;       // 0: not known
    std::string trouble = {};  // why it has not, without secrets; "": it is under way
    friend bool operator==(const Job&, const Job&) = default;
  };
  std::vector<Job> jobs;
  std::int64_t read_bytes = 0;  // by the courier so far: digests of large files take their time
  friend bool operator==(const Left&, const Left&) = default;
};

std::string line_of(const Left& left);
// Nothing: the line says something else.
std::optional<Left> left_from(std::string_view line);

// "upload trainer/hub, 40 %".
std::string words_of(const Left::Job& job);

}  // namespace trainward::orders
