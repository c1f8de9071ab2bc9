// A cache in a folder of its own, and what the tests look for in it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/base/digest.hpp"
#include "common/program_cache/program_cache.hpp"
#include "temporary_folder.hpp"

namespace trainward::program_cache::testing {

inline std::string key(int number) { return sha256_hex(std::to_string(number)); }

// Bytes that tell which program and of what size they are.
inline std::string program(int number, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += std::to_string(number) + ":" + std::to_string(text.size());
  text.resize(bytes);
  return text;
}

inline const ProgramInfo info{"block_forward", "tt 0.9", "pjrt_plugin_tt.so"};

inline ProgramCache open(const std::filesystem::path& folder,
                         std::uint64_t limit = ProgramCache::default_limit_bytes) {
  auto cache = ProgramCache::open(folder, limit);
  if (!cache) throw std::runtime_error(cache.error().message());
  return std::move(*cache);
}

inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// As if the program had been used so long ago.
inline void age(const std::filesystem::path& folder, const std::string& key,
                std::chrono::seconds ago) {
  std::filesystem::last_write_time(folder / (key + ".program"),
                                   std::filesystem::file_time_type::clock::now() - ago);
}

// Runs `work` in a child, which must not use gtest; its exit status, or -signal.
inline int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1000;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace trainward::program_cache::testing
