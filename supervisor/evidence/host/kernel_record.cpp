#include "supervisor/evidence/host/kernel_record.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "supervisor/evidence/host/kernel_patterns.hpp"

namespace trainward::host {
namespace {

template <typename Number>
bool take_number(std::string_view& text, char end, Number& number) {
  const auto stop = text.find(end);
  if (stop == std::string_view::npos || stop == 0) return false;
  const auto [parsed, error] = std::from_chars(text.data(), text.data() + stop, number);
  if (error != std::errc() || parsed != text.data() + stop) return false;
  text.remove_prefix(stop + 1);
  return true;
}

std::optional<KernelRecord> parse_first_line(std::string_view line) {
  const auto semicolon = line.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  KernelRecord record;
  // A comma of our own: flags and later fields may be missing.
  std::string head(line.substr(0, semicolon));
  head += ',';
  std::string_view fields = head;
  if (!take_number(fields, ',', record.priority) || record.priority < 0 ||
      !take_number(fields, ',', record.sequence) || !take_number(fields, ',', record.usec) ||
      record.usec < 0) {
    return std::nullopt;
  }
  record.text = line.substr(semicolon + 1);
  return record;
}

}  // namespace

void KernelRecords::take_line_of(std::string_view line, std::vector<KernelRecord>& done) {
  if (line.starts_with(' ')) {
    constexpr std::string_view device = " DEVICE=+pci:";
    if (record_ && line.starts_with(device)) record_->device = line.substr(device.size());
    return;
  }
  if (record_) done.push_back(std::move(*record_));
  record_ = parse_first_line(line);
}

std::vector<KernelRecord> KernelRecords::take(std::string_view piece) {
  std::vector<KernelRecord> done;
  while (!piece.empty()) {
    const auto end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (!skipping_) rest_.append(part.substr(0, longest_kernel_line + 1));
    if (rest_.size() > longest_kernel_line) {
      rest_.clear();
      skipping_ = true;
    }
    if (end == std::string_view::npos) break;
    if (!skipping_ && !rest_.empty()) take_line_of(rest_, done);
    rest_.clear();
    skipping_ = false;
    piece.remove_prefix(end + 1);
  }
  return done;
}

std::optional<KernelRecord> KernelRecords::finish() { return std::exchange(record_, std::nullopt); }

}  // namespace trainward::host
