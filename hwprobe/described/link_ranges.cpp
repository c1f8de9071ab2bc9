#include "hwprobe/described/link_ranges.hpp"

#include <fmt/format.h>

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

// Nothing where the channel is not a range.
std::optional<Range> range_of(std::string_view end) {
  const auto colon = end.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view channels = end.substr(colon + 1);
  const auto dash = channels.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number_in<unsigned>(channels.substr(0, dash));
  const auto last = number_in<unsigned>(channels.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return Range{end.substr(0, colon + 1), *first, *last};
}

bool has_dash(std::string_view end) {
  const auto colon = end.rfind(':');
  return colon != std::string_view::npos && end.find('-', colon) != std::string_view::npos;
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> links_between_ends(const std::string& from,
                                                                            const std::string& to) {
  const auto a = range_of(from);
  const auto b = range_of(to);
  const bool unread = (has_dash(from) && !a) || (has_dash(to) && !b);
  // The last channel bounds the first too, so that no difference overflows.
  const auto wrong = [](const std::optional<Range>& range) {
    return range && (range->last >= most_channels || range->first > range->last);
  };
  if (unread || wrong(a) || wrong(b)) {
    return fail(ErrorKind::usage,
                fmt::format("expected channels such as 8-11, from 0 to {}", most_channels - 1));
  }
  if (!a && !b) return {{{from, to}}};
  if (!a || !b || a->size() != b->size()) {
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
