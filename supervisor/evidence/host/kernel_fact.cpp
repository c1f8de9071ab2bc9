#include "supervisor/evidence/host/kernel_fact.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "common/os/processes/host_files.hpp"
#include "supervisor/evidence/host/bus_id.hpp"
#include "supervisor/evidence/host/kernel_patterns.hpp"

namespace trainward::host {
namespace {

using core::Cause;

constexpr std::size_t longest_text = 400;

// The digits that end right before `end`.
pid_t number_before(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  pid_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

pid_t number_behind(std::string_view line, std::size_t begin) {
  pid_t number = 0;
  std::from_chars(line.data() + begin, line.data() + line.size(), number);
  return std::max(number, 0);
}

// The parts in their order; npos when one is missing, else where the last one begins.
std::size_t place_of(const Pattern& pattern, std::string_view line, std::size_t& length) {
  std::size_t from = 0;
  std::size_t place = std::string_view::npos;
  for (const std::string_view part : pattern.parts) {
    if (part.empty()) break;
    place = line.find(part, from);
    if (place == std::string_view::npos) return place;
    from = place + part.size();
    length = part.size();
  }
  if (pattern.pid == Pid::behind_last_found || pattern.pid == Pid::before) {
    place = line.rfind(line.substr(place, length));
  }
  return place;
}

// "NVRM: Xid (PCI:0000:c1:00): 79, pid=1234, name=python, …": the number says everything.
std::optional<Pattern> judge_xid(std::string_view line) {
  constexpr std::string_view head = "NVRM: Xid (PCI:";
  const auto start = line.find(head);
  if (start == std::string_view::npos) return std::nullopt;
  const auto close = line.find("): ", start);
  if (close == std::string_view::npos) return std::nullopt;
  const int xid = number_behind(line, close + 3);
  constexpr std::array lost{48, 64, 74, 79, 94, 95, 119, 120, 154};
  constexpr std::array program{13, 31, 43, 45};
  if (std::ranges::find(lost, xid) != lost.end() || (xid >= 140 && xid <= 149)) {
    return Pattern{{}, Cause::device_lost, symptom, 0};
  }
  if (xid == 109) return Pattern{{}, Cause::hang, symptom, 0};
  if (std::ranges::find(program, xid) != program.end())
    return Pattern{{}, Cause::unknown, symptom, 0};
  return std::nullopt;
}

bool is_benign(std::string_view line) {
  return std::ranges::any_of(benign_kernel_patterns(), [&](const auto& parts) {
    const auto first = line.find(parts[0]);
    return first != std::string_view::npos && line.find(parts[1], first) != std::string_view::npos;
  });
}

// "…,task_memcg=/system.slice/x,task=python,pid=…"
std::string_view cgroup_in(std::string_view line) {
  constexpr std::string_view key = "task_memcg=";
  const auto place = line.find(key);
  if (place == std::string_view::npos) return {};
  line.remove_prefix(place + key.size());
  return line.substr(0, line.rfind(",task="));
}

}  // namespace

std::optional<KernelFact> judge_kernel_line(std::string_view line) {
  line = line.substr(0, longest_kernel_line);
  if (is_benign(line)) return std::nullopt;
  pid_t pid = 0;
  std::optional<Pattern> found = judge_xid(line);
  if (found) {
    constexpr std::string_view key = " pid=";
    const auto place = line.find(key);
    if (place != std::string_view::npos) pid = number_behind(line, place + key.size());
  } else {
    for (const Pattern& pattern : kernel_patterns()) {
      std::size_t length = 0;
      const std::size_t place = place_of(pattern, line, length);
      if (place == std::string_view::npos) continue;
      if (pattern.pid == Pid::before) pid = number_before(line, place);
      if (pattern.pid == Pid::behind || pattern.pid == Pid::behind_last_found) {
        pid = number_behind(line, place + length);
      }
      found = pattern;
      break;
    }
  }
  if (!found) return std::nullopt;
  return KernelFact{found->cause,
                    pid,
                    printable(cgroup_in(line), 4096),
                    bus_ids_in(line),
                    printable(line, longest_text),
                    found->own,
                    found->other};
}

}  // namespace trainward::host
