#include "common/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace trainward {
namespace {

// systemd sets JOURNAL_STREAM=DEVICE:INODE of the stream it gave us; a redirected stderr differs.
bool stderr_is_journald() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &info) != 0) return false;
  return std::string(stream) == std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

}  // namespace

void set_up_logging(std::string_view program, LogTarget target, std::string_view level) {
  const std::string name(program);
  const bool journald =
      target == LogTarget::journald || (target == LogTarget::automatic && stderr_is_journald());
  std::shared_ptr<spdlog::logger> logger;
  if (journald) {
    logger = std::make_shared<spdlog::logger>(
        name, std::make_shared<spdlog::sinks::systemd_sink_mt>(name));
    logger->set_pattern("%v");
  } else {
    logger = std::make_shared<spdlog::logger>(
        name, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %n %^%l%$: %v");
  }
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace trainward
