#include "supervisor/ctl/report_learning.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "checkpoint/retention.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t prompt_lines = 2;
constexpr std::size_t answer_lines = 6;
constexpr std::size_t narrowest = 20;

const json::object* best_of(const json::object& report) {
  const auto best = get_object(report, "best_evaluation");
  return best ? *best : nullptr;
}

std::string about_best(const json::object& best) {
  const std::string reason = string_or(best, "pin_reason", "");
  if (reason.empty()) return "best";
  return fmt::format("best; {} is kept: {}", string_or(best, "checkpoint", "-"), reason);
}

// The text in lines, each behind `indent`, the first behind `first`.
std::string paragraph(std::string_view text, std::string_view first, std::string_view indent,
                      std::size_t most_lines, const Style& style) {
  if (text.empty()) return {};
  const auto columns = static_cast<std::size_t>(std::max(style.width, 0));
  const std::size_t used = display_width(indent);
  const std::size_t room =
      columns == 0 ? 0 : std::max(columns - std::min(columns, used), narrowest);
  std::vector<std::string> lines = wrapped(clean(text), room);
  if (room > 0 && lines.size() > most_lines) {
    lines.resize(most_lines);
    lines.back() = shortened(lines.back() + " …", room);
  }
  std::string out;
  for (const std::string& line : lines) {
    out += fmt::format("{}{}\n", out.empty() ? first : indent, line);
  }
  return out;
}

// "7 tokens, end_of_text"
std::string about_answer(const json::object& row) {
  std::string about = string_or(row, "answer", "").empty() ? "no answer" : "";
  const auto add = [&about](const std::string& more) {
    if (!more.empty()) about += (about.empty() ? "" : ", ") + more;
  };
  if (const auto tokens = get_int(row, "tokens")) add(count(*tokens, "token"));
  add(clean(string_or(row, "ended_by", "")));
  if (int_or(row, "cut", 0) != 0) add("cut to fit a message");
  return about;
}

}  // namespace

void add_pin_reason(json::object& report) {
  json::value* best = report.if_contains("best_evaluation");
  if (best == nullptr || !best->is_object()) return;
  json::object& row = best->get_object();
  const std::string folder = string_or(row, "checkpoint", "");
  row["pin_reason"] = folder.empty() ? "" : checkpoint::pinned_because(folder);
}

std::string perplexity_text(const json::object& row, std::string_view key) {
  const auto perplexity = get_number(row, key);
  return perplexity ? fmt::format(" (perplexity {:.2f})", *perplexity) : "";
}

std::string evaluations_text(const json::object& report, const Style& style) {
  const json::array& rows = list_in(report, "evaluations");
  if (rows.empty()) return {};
  const json::object* best = best_of(report);
  const bool any = std::any_of(rows.begin(), rows.end(), [](const json::value& row) {
    return row.is_object() && get_number(row.get_object(), "perplexity");
  });
  std::vector<Table::Column> columns{{"STEP", Align::right}, {"LOSS", Align::right}, {""}};
  if (any) columns.insert(columns.end() - 1, {"PERPLEXITY", Align::right});
  Table table(std::move(columns));
  for_each_row(rows, [&](const json::object& row) {
    const auto loss = get_number(row, "loss");
    const auto perplexity = get_number(row, "perplexity");
    const bool is_best = best != nullptr && int_or(*best, "step", -1) == int_or(row, "step", -2);
    std::vector<Cell> cells{grouped(int_or(row, "step", 0)), loss ? number_text(*loss) : "-",
                            Cell(is_best ? about_best(*best) : "", Colour::green)};
    if (any) {
      cells.insert(cells.end() - 1, Cell(perplexity ? fmt::format("{:.2f}", *perplexity) : "-"));
    }
    table.add(std::move(cells));
  });
  return "\nEvaluations:\n" + table.text(style, "  ");
}

std::string samples_text(const json::object& report, const Style& style) {
  std::string text;
  std::int64_t step = -1;
  for_each_row(report, "samples", [&](const json::object& row) {
    if (const std::int64_t next = int_or(row, "step", 0); text.empty() || next != step) {
      text += fmt::format("\nWhat the model said after step {}:\n", grouped(next));
      step = next;
    }
    text += paragraph(string_or(row, "prompt", ""), "  > ", "    ", prompt_lines, style);
    text += paragraph(string_or(row, "answer", ""), "    ", "    ", answer_lines, style);
    if (const std::string about = about_answer(row); !about.empty()) {
      text += coloured(fmt::format("    [{}]", about), Colour::dim, style) + "\n";
    }
  });
  return text;
}

}  // namespace trainward::ctl
