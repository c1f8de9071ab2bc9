#include "trainer/data/line_reader.hpp"

#include <span>

namespace trainward::trainer {
namespace {

constexpr std::size_t line_buffer_bytes = std::size_t{1} << 20U;

}  // namespace

Result<bool> LineReader::refill() {
  buffer_.resize(line_buffer_bytes);
  at_ = 0;
  auto got = file_.read(std::as_writable_bytes(std::span(buffer_)));
  buffer_.resize(got ? *got : 0);
  if (!got) return propagate(got);
  taken_ += *got;
  return *got > 0;
}

Result<std::optional<LineReader::Line>> LineReader::next() {
  line_.clear();
  bool any = false;
  bool too_long = false;
  for (;;) {
    if (at_ == buffer_.size()) {
      auto more = refill();
      if (!more) return propagate(more);
      if (!*more) break;
    }
    any = true;
    const std::size_t end = buffer_.find('\n', at_);
    const std::string_view part =
        std::string_view(buffer_).substr(at_, end == std::string::npos ? end : end - at_);
    at_ = end == std::string::npos ? buffer_.size() : end + 1;
    if (end != std::string::npos && line_.empty() && !too_long && part.size() <= max_line_bytes_) {
      return std::optional(Line{part, ++number_, false});
    }
    too_long = too_long || line_.size() + part.size() > max_line_bytes_;
    line_.append(part.substr(0, max_line_bytes_ - line_.size()));
    if (end != std::string::npos) break;
  }
  if (!any) return std::optional<Line>();
  return std::optional(Line{line_, ++number_, too_long});
}

}  // namespace trainward::trainer
