#include "supervisor/daemon/boards/mesh_links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace trainward::daemon {
namespace {

constexpr std::size_t most_named = 8;
constexpr std::size_t tolerated = 10;  // one in so many

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

// Of both ends of "a/L:6 (QSFP 1) to b/L:6 (QSFP 1)".
std::vector<std::string> boards_of(std::string_view link) {
  constexpr std::string_view between = " to ";
  std::vector<std::string> boards;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::string_view end = link.substr(at);
    boards.emplace_back(end.substr(0, end.find('/')));
    at = link.find(between, at);
    if (at != std::string_view::npos) at += between.size();
  }
  return boards;
}

}  // namespace

LostLinks lost_links(const core::KnownMesh& then, const core::KnownMesh& now) {
  if (!then.proven || then.shape != now.shape || now.links.size() >= then.links.size()) return {};
  std::vector<std::string> lost;
  for (const std::string& link : then.links) {
    if (!contains(now.links, link)) lost.push_back(link);
  }
  const std::size_t fewer = then.links.size() - now.links.size();
  if (lost.size() > most_named) {
    const std::size_t more = lost.size() - most_named;
    lost.resize(most_named);
    lost.push_back(fmt::format("and {} more", more));
  }
  return {fmt::format("its mesh of {} has {} of the {} links that it had when it was first trained "
                      "on; missing: {}",
                      now.shape, now.links.size(), then.links.size(), fmt::join(lost, "; ")),
          fewer * tolerated > then.links.size()};
}

std::string lost_boards(const core::KnownMesh& then, const std::vector<std::string>& found) {
  std::set<std::string> lost;
  for (const std::string& link : then.links) {
    for (std::string& board : boards_of(link)) {
      if (!contains(found, board)) lost.insert(std::move(board));
    }
  }
  if (!then.proven || lost.empty()) return {};
  return fmt::format("board{} {}, which it had, {} not found", lost.size() == 1 ? "" : "s",
                     fmt::join(lost, ", "), lost.size() == 1 ? "is" : "are");
}

}  // namespace trainward::daemon
