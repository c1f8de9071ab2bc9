#include "supervisor/decide/view/deliveries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/text.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::views {
namespace {

constexpr std::size_t longest_error = 400;  // with the remedy, which comes last

std::vector<const json::object*> rows_of(const json::object& document, std::string_view key) {
  std::vector<const json::object*> rows;
  const json::value* list = document.if_contains(key);
  if (list == nullptr || !list->is_array()) return rows;
  for (const json::value& row : list->get_array()) {
    if (row.is_object()) rows.push_back(&row.get_object());
  }
  return rows;
}

std::string failing_text(const json::object& job, std::int64_t now_ms) {
  std::string text = fmt::format("{} fails", said(string_or(job, "name", "a receiver")));
  if (const std::int64_t since = int_or(job, "since_ms", 0); since > 0 && since <= now_ms) {
    text = fmt::format("{} has been failing for {}", said(string_or(job, "name", "a receiver")),
                       span(now_ms - since));
  }
  if (const std::string error = said(string_or(job, "error", ""), longest_error); !error.empty()) {
    text += ": " + error;
  }
  if (const std::int64_t next = int_or(job, "next_ms", 0); next > now_ms) {
    text += fmt::format("; tried again in {}", span(next - now_ms));
  }
  return text;
}

std::string upload_text(const json::object& upload) {
  std::string text = fmt::format("{} uploads {} to {}", said(string_or(upload, "program", "-")),
                                 said(string_or(upload, "name", "a checkpoint")),
                                 said(string_or(upload, "target", "-")));
  const std::int64_t bytes = int_or(upload, "bytes", 0);
  const std::int64_t sent = std::clamp<std::int64_t>(int_or(upload, "sent_bytes", 0), 0,
                                                     std::max<std::int64_t>(bytes, 0));
  if (bytes > 0) {
    text += fmt::format(": {} of {} ({:.0f} %)", human_bytes(static_cast<std::uint64_t>(sent)),
                        human_bytes(static_cast<std::uint64_t>(bytes)),
                        100.0 * static_cast<double>(sent) / static_cast<double>(bytes));
  }
  return text;
}

}  // namespace

std::vector<DeliveryLine> delivery_lines(const json::object& document, std::int64_t now_ms,
                                         std::size_t most) {
  std::vector<DeliveryLine> lines;
  if (const json::value* courier = document.if_contains("courier");
      courier != nullptr && courier->is_object()) {
    const std::string trouble = said(string_or(courier->get_object(), "trouble", ""));
    if (!trouble.empty()) lines.push_back({trouble, true});
  }
  for (const json::object* job : rows_of(document, "jobs")) {
    if (string_or(*job, "state", "") == "failing") {
      lines.push_back({failing_text(*job, now_ms), true});
    }
  }
  for (const json::object* upload : rows_of(document, "uploads")) {
    if (string_or(*upload, "state", "") == "sending") {
      lines.push_back({upload_text(*upload), false});
    }
  }
  if (lines.size() > most) {
    const std::size_t more = lines.size() - most + 1;
    lines.resize(most - 1);
    lines.push_back({fmt::format("and {} more: /v1/deliveries has them all", more), true});
  }
  return lines;
}

}  // namespace trainward::views
