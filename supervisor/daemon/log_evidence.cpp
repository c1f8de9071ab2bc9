#include "supervisor/daemon/log_evidence.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.hpp"
#include "common/launch.hpp"
#include "supervisor/rules/log_classifier.hpp"

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

std::vector<core::LogMatch> log_evidence(const std::filesystem::path& attempt_folder,
                                         const rules::LogMatcher& matcher) {
  std::vector<core::LogMatch> found;
  for (const char* name : {attempt_files::standard_error, attempt_files::standard_output}) {
    const std::string text = read_tail(attempt_folder / name, looked_at_bytes);
    for (const rules::Finding& finding : rules::classify_log(matcher, text).findings) {
      if (finding.overcome || finding.strength == rules::Strength::hint) continue;
      found.push_back({finding.rule, finding.crash_class, finding.transient != rules::Transient::no,
                       finding.line, fmt::format("{}:{}", name, finding.line_number)});
    }
  }
  return found;
}

}  // namespace trainward::daemon
