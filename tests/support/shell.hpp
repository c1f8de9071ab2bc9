// A command as a shell runs it.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace trainward::test {

struct ShellResult {
  int code = -1;       // -1: ended by a signal, or not started
  std::string output;  // of stdout; with 2>&1 in the command of both streams
};

inline ShellResult shell(const std::string& command) {
  ShellResult result;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 65'536> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

}  // namespace trainward::test
