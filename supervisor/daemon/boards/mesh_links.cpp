#include "supervisor/daemon/boards/mesh_links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace trainward::daemon {
namespace {

constexpr std::size_t most_named = 8;
constexpr std::int64_t tolerated = 10;  // one in so many

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

// Of both ends of "a/L:6,7 (QSFP 1) to b/L:6,7 (QSFP 1)".
std::vector<std::string> boards_of(std::string_view links) {
  constexpr std::string_view between = " to ";
  std::vector<std::string> boards;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::string_view end = links.substr(at);
    boards.emplace_back(end.substr(0, end.find('/')));
    at = links.find(between, at);
    if (at != std::string_view::npos) at += between.size();
  }
  return boards;
}

}  // namespace

LostLinks lost_links(const core::KnownMesh& then, const core::KnownMesh& now) {
  if (!then.proven || then.shape != now.shape || now.links >= then.links) return {};
  std::vector<std::string> lost;
  for (const std::string& pair : then.pairs) {
    if (!contains(now.pairs, pair)) lost.push_back(pair);
  }
  const std::int64_t fewer = then.links - now.links;
  if (lost.size() > most_named) {
    const std::size_t more = lost.size() - most_named;
    lost.resize(most_named);
    lost.push_back(fmt::format("and {} more", more));
  }
  return {fmt::format("its mesh of {} has {} of the {} links that it had when it was first trained "
                      "on; missing among {}",
                      now.shape, now.links, then.links, fmt::join(lost, "; ")),
          fewer * tolerated > then.links};
}

std::string lost_boards(const core::KnownMesh& then, const std::vector<std::string>& found) {
  std::set<std::string> lost;
  for (const std::string& pair : then.pairs) {
    for (std::string& board : boards_of(pair)) {
      if (!contains(found, board)) lost.insert(std::move(board));
    }
  }
  if (!then.proven || lost.empty()) return {};
  return fmt::format("board{} {}, which it had, {} not found", lost.size() == 1 ? "" : "s",
                     fmt::join(lost, ", "), lost.size() == 1 ? "is" : "are");
}

}  // namespace trainward::daemon
