#include <fmt/format.h>

#include <string_view>

#include "common/base/text.hpp"
#include "hwprobe/tenstorrent/judge/findings.hpp"
#include "hwprobe/topology/connectors.hpp"

namespace trainward::hwprobe {
namespace {

std::string_view chip_of(std::string_view endpoint) {
  return endpoint.substr(0, endpoint.find(':'));
}

// The two traces on the board itself.
bool on_board(const LinkFacts& link) {
  return chip_of(link.from) == "L" && chip_of(link.to) == "R";
}

// How much is left of the way to chip R.
enum class Way { open, coming, lost };

struct Count {
  std::size_t present = 0;
  std::size_t training = 0;
  std::size_t down = 0;  // and not training

  // A link that could not be read may be up.
  [[nodiscard]] Way way() const {
    if (present == 0 || down + training < present) return Way::open;
    return training > 0 ? Way::coming : Way::lost;
  }
};

Count count_on_board(const std::vector<LinkFacts>& links) {
  Count count;
  for (const LinkFacts& link : links) {
    if (!on_board(link)) continue;
    ++count.present;
    if (!link.known || link.up) continue;
    ++(link.training ? count.training : count.down);
  }
  return count;
}

// "link L:6 (QSFP 1) to 010001451170c0c4/L:6": what is at the other end only its own board can say.
std::string name_of(const LinkFacts& link, const BoardFacts& board) {
  if (on_board(link)) return fmt::format("on-board link {} to {}", link.from, link.to);
  const auto end = [&](const std::string& text) {
    const auto parsed = parse_end(text, "");
    const bool own = parsed && parsed->board.empty();
    return with_connector(text, own ? socket_of({board.type, board.bus_id}, *parsed) : "");
  };
  return fmt::format("link {} to {}", end(link.from), end(link.to));
}

Finding unreachable(const Count& count, Way way, const BoardFacts& facts) {
  const bool single = count.present == 1;
  const std::string_view which = single ? "the" : (count.present == 2 ? "both" : "all");
  if (way == Way::coming || links_may_be_down(facts)) {
    return {Verdict::resetting,
            {fmt::format("chip R cannot be reached yet: {} on-board Ethernet {} up", which,
                         single ? "link is not" : "links are not"),
             "links take up to three minutes after a reset; look again then"}};
  }
  return {Verdict::remote_lost,
          {fmt::format("chip R cannot be reached: {} on-board Ethernet {} down", which,
                       single ? "link is" : "links are"),
           "reset both boards together and probe again; if it stays, quarantine the board and have "
           "it repaired"}};
}

std::string describe_down(const LinkFacts& link, const BoardFacts& board) {
  return fmt::format(
      "{} is down ({}{})", name_of(link, board), link.why.empty() ? "training failed" : link.why,
      link.retrains > 0 ? ", after " + trainward::count(link.retrains, "retraining") : "");
}

std::string_view advice_on(const LinkFacts& link, Way way) {
  if (!on_board(link)) return "check both plugs, then reset the boards at both ends together";
  // What is to be done about a lost chip R is said once.
  return way == Way::lost ? "" : "reset both boards together; if it stays, plan a repair";
}

void judge_counters(const LinkFacts& link, const BoardFacts& board, Findings& findings) {
  const auto add = [&](std::string what, std::string advice) {
    findings.push_back(
        {Verdict::degraded, {name_of(link, board) + std::move(what), std::move(advice)}});
  };
  if (link.retrains > 0) {
    add(fmt::format(" was retrained {}",
                    link.retrains == 1 ? "once" : std::to_string(link.retrains) + " times"),
        "watch it: a link that keeps retraining will fail");
  }
  if (link.uncorrected > 0) {
    add(fmt::format(" lost {} that could not be corrected",
                    trainward::count(link.uncorrected, "codeword")),
        "watch it: a link that loses data will fail");
  }
  if (link.crc_errors > 0) {
    add(fmt::format(" had {}", trainward::count(link.crc_errors, "checksum error")),
        "watch it: what is lost is sent again, and costs time");
  }
}

}  // namespace

bool remote_unreachable(const BoardFacts& facts) {
  return count_on_board(facts.links).way() != Way::open;
}

Findings judge_links(const BoardFacts& facts) {
  Findings findings;
  const Count count = count_on_board(facts.links);
  const Way way = count.way();
  if (way != Way::open) findings.push_back(unreachable(count, way, facts));
  const Verdict unreached = way == Way::open ? Verdict::degraded : findings.front().verdict;

  for (const LinkFacts& link : facts.links) {
    if (!link.known) continue;
    if (link.up) {
      judge_counters(link, facts, findings);
      continue;
    }
    Verdict verdict = on_board(link) ? unreached : Verdict::degraded;
    if (links_may_be_down(facts)) verdict = Verdict::resetting;
    findings.push_back({verdict,
                        {link.training ? fmt::format("{} is not up yet ({})", name_of(link, facts),
                                                     link.why.empty() ? "still training" : link.why)
                                       : describe_down(link, facts),
                         std::string(advice_on(link, way))}});
  }
  return findings;
}

}  // namespace trainward::hwprobe
