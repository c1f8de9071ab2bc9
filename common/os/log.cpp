#include "common/os/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
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

// The text of a message, much of it from elsewhere: a worker's words, names of files.
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

constexpr const char* lines_with_time = "%Y-%m-%dT%H:%M:%S.%e%z %n %^%l%$: %*";

class MemorySink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  RecentLog read(std::int64_t offset, std::int64_t limit) {
    const std::lock_guard lock(mutex_);
    RecentLog range;
    range.end = first_ + static_cast<std::int64_t>(text_.size());
    range.begin = std::clamp(offset < 0 ? offset + range.end : offset, first_, range.end);
    range.bytes = text_.substr(static_cast<std::size_t>(range.begin - first_),
                               static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)));
    return range;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    text_.append(line.data(), line.size());
    if (text_.size() <= recent_log_bytes) return;
    // A quarter at a time, so that not every line moves all the others.
    const auto cut = text_.find('\n', text_.size() - recent_log_bytes * 3 / 4);
    const std::size_t forgotten = cut == std::string::npos ? text_.size() : cut + 1;
    text_.erase(0, forgotten);
    first_ += static_cast<std::int64_t>(forgotten);
  }
  void flush_() override {}

  std::string text_;
  std::int64_t first_ = 0;  // offset of text_[0]
};

}  // namespace

RecentLog recent_log(std::int64_t offset, std::int64_t limit) {
  for (const spdlog::sink_ptr& sink : spdlog::default_logger()->sinks()) {
    if (auto* memory = dynamic_cast<MemorySink*>(sink.get())) return memory->read(offset, limit);
  }
  return {};
}

void set_up_logging(std::string_view program, LogTarget target, std::string_view level) {
  const std::string name(program);
  const bool journald =
      target == LogTarget::journald || (target == LogTarget::automatic && stderr_is_journald());
  spdlog::sink_ptr sink;
  if (journald) {
    sink = std::make_shared<spdlog::sinks::systemd_sink_mt>(name, true);
    sink->set_formatter(safe_formatter("%*"));
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    sink->set_formatter(safe_formatter(lines_with_time));
  }
  auto memory = std::make_shared<MemorySink>();
  memory->set_formatter(safe_formatter(lines_with_time));
  auto logger = std::make_shared<spdlog::logger>(
      name, spdlog::sinks_init_list{std::move(sink), std::move(memory)});
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace trainward
