#include "common/os/processes/host_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <memory>

#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::host {
namespace {

std::optional<pid_t> process_number(std::string_view text) {
  const auto number = whole_number(text);
  if (!number || *number == 0 || *number > std::numeric_limits<pid_t>::max()) return std::nullopt;
  return static_cast<pid_t>(*number);
}

}  // namespace

std::optional<std::string> read_some(const std::filesystem::path& file, std::size_t max_bytes) {
  const auto fd = open_regular(file, O_RDONLY);
  if (!fd) return std::nullopt;
  std::string bytes;
  std::array<char, 4096> chunk;
  while (bytes.size() < max_bytes) {
    const ssize_t got =
        ::read(fd->get(), chunk.data(), std::min(chunk.size(), max_bytes - bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    // A process that ends while it is read fails with ESRCH: half an answer is useless.
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const std::string_view digits = trim(text);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::int64_t>::max();
  return value;
}

std::optional<std::int64_t> read_whole_number(const std::filesystem::path& file) {
  const auto text = read_some(file, 256);
  return text ? whole_number(*text) : std::nullopt;
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n"));
  text.remove_prefix(word.size());
  return word;
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::optional<std::int64_t> number_of_key(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    std::string_view word = take_word(line);
    if (word.ends_with(':')) word.remove_suffix(1);
    if (word == key) return whole_number(take_word(line));
  }
  return std::nullopt;
}

bool has_word(std::string_view list, std::string_view word) {
  for (auto next = take_word(list); !next.empty(); next = take_word(list)) {
    if (next == word) return true;
  }
  return false;
}

std::vector<pid_t> processes_in(std::string_view text) {
  std::vector<pid_t> processes;
  for (auto word = take_word(text); !word.empty(); word = take_word(text)) {
    if (const auto process = process_number(word)) processes.push_back(*process);
  }
  return processes;
}

std::vector<pid_t> numbers_in(const std::filesystem::path& folder, std::size_t most) {
  std::vector<pid_t> numbers;
  // Not std::filesystem: it would build a path for each of the thousands of entries of /proc.
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> entries(::opendir(folder.c_str()), close);
  if (!entries) return numbers;
  while (numbers.size() < most) {
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    if (const auto number = process_number(static_cast<const char*>(entry->d_name))) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::int64_t add_up(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string line(text.substr(0, max_bytes));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return line;
}

}  // namespace trainward::host
