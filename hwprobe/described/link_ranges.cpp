#include "hwprobe/described/link_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "common/base/number_in.hpp"

namespace trainward::hwprobe {
namespace {

constexpr unsigned most_channels = 16;  // of a Wormhole

struct Range {
  std::string_view before;  // "L:"
  unsigned first = 0;
  unsigned last = 0;

  [[nodiscard]] unsigned size() const { return last - first + 1; }
};

// Of "L:8", "010003510000a012/L:8-11". The last channel bounds the first too, so that no difference
// overflows.
std::optional<Range> range_of(std::string_view end) {
  const std::size_t slash = end.rfind('/');
  const std::size_t colon = end.rfind(':');
  if (colon == std::string_view::npos || slash == 0) return std::nullopt;
  const std::size_t chip_at = slash == std::string_view::npos ? 0 : slash + 1;
  const std::string_view chip = end.substr(chip_at, colon - chip_at);
  const std::string_view channels = end.substr(colon + 1);
  const std::size_t dash = std::min(channels.find('-'), channels.size());
  const auto first = number_in<unsigned>(channels.substr(0, dash));
  const auto last =
      dash == channels.size() ? first : number_in<unsigned>(channels.substr(dash + 1));
  if ((chip != "L" && chip != "R") || !first || !last || *first > *last || *last >= most_channels) {
    return std::nullopt;
  }
  return Range{end.substr(0, colon + 1), *first, *last};
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> links_between_ends(const std::string& from,
                                                                            const std::string& to) {
  const auto a = range_of(from);
  const auto b = range_of(to);
  if (!a || !b) {
    return fail(ErrorKind::usage,
                fmt::format("{} is no end of a link: expected a chip and a channel such as L:8, or "
                            "channels such as L:8-11, from 0 to {}",
                            a ? to : from, most_channels - 1));
  }
  if (a->size() != b->size()) {
    return fail(ErrorKind::usage, "expected as many channels at both ends of a link");
  }
  std::vector<std::pair<std::string, std::string>> links;
  links.reserve(a->size());
  for (unsigned i = 0; i < a->size(); ++i) {
    links.emplace_back(fmt::format("{}{}", a->before, a->first + i),
                       fmt::format("{}{}", b->before, b->first + i));
  }
  return links;
}

}  // namespace trainward::hwprobe
