#include "supervisor/daemon/log_evidence.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/file.hpp"
#include "common/launch.hpp"

namespace trainward::daemon {
namespace {

constexpr std::size_t looked_at_bytes = 256 * 1024;

}  // namespace

std::string read_tail(const std::filesystem::path& file, std::size_t limit) {
  auto fd = open_file(file, O_RDONLY);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0) return {};
  const auto size = static_cast<std::size_t>(info.st_size);
  std::string text(std::min(size, limit), '\0');
  const ssize_t got =
      ::pread(fd->get(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

bool logs_are_empty(const std::filesystem::path& attempt_folder) {
  for (const char* name : {attempt_files::standard_error, attempt_files::standard_output}) {
    std::error_code error;
    if (std::filesystem::file_size(attempt_folder / name, error) > 0 && !error) return false;
  }
  return true;
}

std::vector<core::LogMatch> log_evidence(const std::filesystem::path& attempt_folder,
                                         const rules::LogMatcher& matcher) {
  std::vector<core::LogMatch> found;
  for (const char* name : {attempt_files::standard_error, attempt_files::standard_output}) {
    const std::string text = read_tail(attempt_folder / name, looked_at_bytes);
    for (const rules::Match& match : matcher.match_lines(text)) {
      const int weight = std::max(60 - static_cast<int>(found.size()), 41);
      found.push_back({match.rule, match.crash_class, weight, match.line,
                       fmt::format("{}:{}", name, match.line_number)});
    }
  }
  return found;
}

}  // namespace trainward::daemon
