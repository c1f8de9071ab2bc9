// Where the time went: of the run, of the last day and hour, a bar each and a table of all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "supervisor/decide/core/phase.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

struct Share {
  double seconds = 0;
  double share = 0;
};

struct Window {
  std::string_view id;
  std::string_view words;
  std::string_view column;  // what its column of the table is called
  const json::object* ledger = nullptr;
  std::map<std::string, Share> shares;  // of phases
};

// A phase that this version does not know is looked at as time that was lost.
std::string phase_of(const json::object& row) {
  core::Phase phase = core::Phase::down;
  core::from_string(string_or(row, "phase", ""), phase);
  return std::string(to_string(phase));
}

std::map<std::string, Share> shares_of(const json::object& ledger) {
  std::map<std::string, Share> shares;
  views::for_each_row(ledger, "phases", [&](const json::object& row) {
    Share& share = shares[phase_of(row)];
    const double seconds = number_or(row, "seconds", 0);
    const double part = number_or(row, "share", 0);
    share.seconds += std::isfinite(seconds) ? std::max(seconds, 0.0) : 0;
    share.share += std::isfinite(part) ? std::clamp(part, 0.0, 1.0) : 0;
  });
  return shares;
}

// Lines over a lost phase, in a direction of its own: a bar without colours is read by them.
constexpr std::array<std::string_view, 9> patterns{
    "M0 6L6 0",     "M0 0L6 6",    "M3 0V6",       "M0 3H6",      "M0 6L6 0M0 0L6 6",
    "M3 0V6M0 3H6", "M2 2H4V4H2Z", "M0 1H6M0 4H6", "M1 0V6M4 0V6"};

Html pattern(const std::string& id, std::string_view lines) {
  return element("pattern",
                 {{"id", id}, {"width", "6"}, {"height", "6"}, {"patternUnits", "userSpaceOnUse"}},
                 {element("path", {{"d", lines},
                                   {"fill", "none"},
                                   {"stroke", "#ffffff"},
                                   {"stroke-opacity", "0.55"},
                                   {"stroke-width", "1"}})});
}

Html bar(const Window& window) {
  constexpr double width = 1000;
  Html defs;
  Html rects;
  double x = 0;
  for (std::size_t i = 0; i < core::phase_names.size(); ++i) {
    const std::string phase(core::phase_names.at(i));
    const auto found = window.shares.find(phase);
    if (found == window.shares.end() || found->second.share <= 0) continue;
    const double part = std::min(found->second.share * width, width - x);
    const std::vector<Attribute> place{{"x", fmt::format("{:.1f}", x)},
                                       {"y", "0"},
                                       {"width", fmt::format("{:.1f}", part)},
                                       {"height", "28"}};
    const auto with = [&](Attribute attribute) {
      auto attributes = place;
      attributes.push_back(std::move(attribute));
      return attributes;
    };
    rects += element(
        "rect", with({"class", "phase-" + phase}),
        {element("title", {}, {fmt::format("{} {}", phase, views::percent(found->second.share))})});
    if (phase != to_string(core::Phase::stepping)) {
      const std::string id = fmt::format("pattern-{}-{}", window.id, phase);
      defs += pattern(id, patterns.at(i % patterns.size()));
      rects += element("rect", with({"fill", "url(#" + id + ")"}));
    }
    x += part;
  }
  const double effective = number_or(*window.ledger, "effective_share", 0);
  return element(
      "svg",
      {{"class", "bar"},
       {"viewBox", "0 0 1000 28"},
       {"preserveAspectRatio", "none"},
       {"role", "img"},
       {"aria-label", fmt::format("{}: {} effective", window.words, views::percent(effective))}},
      {element("defs", {}, {defs}), rects});
}

std::string share_text(const Share& share) {
  return fmt::format("{}, {}", views::percent(share.share), views::human_seconds(share.seconds));
}

Html causes(const json::object& ledger) {
  Table table("Seconds by phase and cause, of the whole run",
              {{"phase"}, {"after"}, {"time", true}, {"share", true}});
  int left = 40;
  views::for_each_row(ledger, "phases", [&](const json::object& row) {
    if (left-- <= 0) return;
    const std::string cause = string_or(row, "cause", "");
    table.add({cut(string_or(row, "phase", "-"), 60), cut(views::or_dash(cause), 60),
               views::human_seconds(number_or(row, "seconds", 0)),
               views::percent(number_or(row, "share", 0))});
  });
  return table.empty() ? Html() : details("Causes", "time-causes", table.html());
}

// Of a run that is younger than a window, the window would show the same again.
std::vector<Window> windows_of(const Documents& documents) {
  std::vector<Window> windows;
  const auto add = [&](Window window) {
    window.shares = shares_of(*window.ledger);
    if (!window.shares.empty()) windows.push_back(std::move(window));
  };
  add({"run", "The whole run", "run", &documents.ledger_run, {}});
  const double total = number_or(documents.ledger_run, "total_seconds", 0);
  if (total > 86'400) add({"day", "The last 24 h", "24 h", &documents.ledger_day, {}});
  if (total > 3'600) add({"hour", "The last hour", "1 h", &documents.ledger_hour, {}});
  return windows;
}

}  // namespace

Html time_section(const Documents& documents) {
  const std::vector<Window> windows = windows_of(documents);
  if (windows.empty()) {
    return titled("time", "Where the time went",
                  element("p", {}, {"No time is booked yet: it begins with the first start."}));
  }
  Html bars;
  std::vector<Column> columns{{"phase"}};
  for (const Window& window : windows) {
    const double total = number_or(*window.ledger, "total_seconds", 0);
    bars += element("h3", {},
                    {fmt::format("{}: {} of {} effective", window.words,
                                 views::percent(number_or(*window.ledger, "effective_share", 0)),
                                 views::human_seconds(total))});
    bars += bar(window);
    columns.push_back({window.column, true});
  }
  Table table("Share and time of each phase", std::move(columns));
  const auto seconds = [](const Window& window, std::string_view phase) {
    const auto found = window.shares.find(std::string(phase));
    return found == window.shares.end() ? Share{} : found->second;
  };
  std::vector<std::string_view> phases(core::phase_names.begin(), core::phase_names.end());
  std::ranges::stable_sort(phases, [&](std::string_view a, std::string_view b) {
    return seconds(windows.front(), a).seconds > seconds(windows.front(), b).seconds;
  });
  for (const std::string_view phase : phases) {
    std::vector<Html> cells{
        join({element("i", {{"class", fmt::format("key phase-{}", phase)}}, {""}), phase})};
    bool any = false;
    for (const Window& window : windows) {
      const Share share = seconds(window, phase);
      any = any || share.seconds > 0;
      cells.emplace_back(share.seconds > 0 ? share_text(share) : "-");
    }
    if (any) table.add(std::move(cells));
  }
  const Html meaning =
      element("p", {},
              {muted("Effective is the time in which steps were done for the first time. What was "
                     "done again after a crash is replaying; down is time that was lost: nothing "
                     "ran, or an attempt failed and this was its time since the last step that "
                     "was seen.")});
  return titled("time", "Where the time went",
                join({bars, meaning, table.html(), causes(documents.ledger_run)}));
}

}  // namespace trainward::page
