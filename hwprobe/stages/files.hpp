// The kernel's files (/sys, /proc) as questions with answers: the same code reads a host, streams
// what it saw, and interprets a recording.
//
// In: a verb and its argument, as reading.hpp lists them. Out: the reading; a failed read is a
// reading with an error, never a fault. Paths are those of the host ("/sys/bus/pci/devices").
// A live answer may never come: ask for it in a child (stage.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwprobe/stages/reading.hpp"

namespace trainward::hwprobe {

// The text of a reading without its line end; nothing when it failed or is empty.
std::optional<std::string> text_in(const Reading& reading);
// A text that is one number, decimal or 0x….
std::optional<std::int64_t> number_in(const Reading& reading);

class Files {
 public:
  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  virtual ~Files() = default;

  virtual Reading answer(std::string_view verb, std::string_view argument) = 0;

  // Of a file, its first 4 KiB at most.
  std::optional<std::string> text(std::string_view path);
  std::optional<std::int64_t> number(std::string_view path);
  // The first 64 bytes of a file as hex digits.
  std::optional<std::string> bytes(std::string_view path);
  // The names in a folder, sorted; nothing when it cannot be listed.
  std::optional<std::vector<std::string>> names(std::string_view path);
  // False: no wait took place (the recording ends before it).
  bool wait(std::chrono::milliseconds time);
};

}  // namespace trainward::hwprobe
