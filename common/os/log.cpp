#include "common/os/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "common/base/text.hpp"

namespace trainward {
namespace {

// systemd sets JOURNAL_STREAM=DEVICE:INODE of the stream it gave us; a redirected stderr differs.
bool stderr_is_journald() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &info) != 0) return false;
  return std::string(stream) == std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

// The text of a message, of which much is somebody else's: a worker's words, names of files.
class SafeText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string text = clean({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<SafeText>();
  }
};

std::unique_ptr<spdlog::formatter> safe_formatter(std::string pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<SafeText>('*').set_pattern(std::move(pattern));
  return formatter;
}

}  // namespace

void set_up_logging(std::string_view program, LogTarget target, std::string_view level) {
  const std::string name(program);
  const bool journald =
      target == LogTarget::journald || (target == LogTarget::automatic && stderr_is_journald());
  std::shared_ptr<spdlog::logger> logger;
  if (journald) {
    logger = std::make_shared<spdlog::logger>(
        name, std::make_shared<spdlog::sinks::systemd_sink_mt>(name, true));
    logger->set_formatter(safe_formatter("%*"));
  } else {
    logger = std::make_shared<spdlog::logger>(
        name, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    logger->set_formatter(safe_formatter("%Y-%m-%dT%H:%M:%S.%e%z %n %^%l%$: %*"));
  }
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace trainward
