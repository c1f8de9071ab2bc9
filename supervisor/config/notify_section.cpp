// notify: who is told what, when and by which ways.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "common/yaml/scalar.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/config/reading/config_reading.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t day_ms = 24 * hour_ms;
constexpr std::size_t longest_address = 200;

// Within a day, which ends before 24:00.
std::optional<int> minute_of(std::string_view text) {
  const auto minute = minute_of_day(text);
  return minute && *minute < 24 * 60 ? minute : std::nullopt;
}

void read_quiet(MapReader& map, notify::Policy& policy) {
  const Node* node = map.take("quiet");
  if (node == nullptr) return;
  const std::string_view text =
      node->kind == Node::Kind::scalar ? std::string_view(node->text) : std::string_view();
  if (text == "off") return;
  const auto dash = text.find('-');
  const auto from = minute_of(text.substr(0, dash));
  const auto until =
      dash == std::string_view::npos ? std::nullopt : minute_of(text.substr(dash + 1));
  if (!from || !until || *from == *until) {
    return map.report(
        "quiet", *node,
        "expected two times of the day, such as \"22:00-07:00\", or off; found " + describe(*node));
  }
  policy.quiet = notify::Quiet{*from, *until};
}

void read_digest(MapReader& map, notify::Policy& policy) {
  const Node* node = map.take("digest");
  if (node == nullptr) return;
  const std::string_view text =
      node->kind == Node::Kind::scalar ? std::string_view(node->text) : std::string_view();
  policy.digest = minute_of(text);
  if (policy.digest || text == "off") return;
  map.report("digest", *node,
             "expected a time of the day, such as \"08:00\", or off; found " + describe(*node));
}

void read_page(MapReader& map, notify::Policy& policy) {
  const Node* node = map.take("page");
  if (node == nullptr) return;
  std::string text = node->kind == Node::Kind::scalar ? node->text : "";
  while (text.ends_with('/')) text.pop_back();
  const bool scheme = text.starts_with("http://") || text.starts_with("https://");
  const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
  // A message goes to many places: what opens the page to anybody does not belong into it.
  const bool open = text.find_first_of("@?#\"<>\\") == std::string::npos;
  if (!scheme || !printable || !open || text.size() > longest_address) {
    return map.report("page", *node,
                      "expected the address at which people reach the page, such as "
                      "https://train.example.org, without a name, password or query in it");
  }
  policy.page = std::move(text);
}

}  // namespace

void read_notify(MapReader& file, const Folders& folders, Config& config) {
  in_section(file, "notify", [&](MapReader& map) {
    notify::Policy& policy = config.notify.policy;
    policy.hold_ms = map.duration_ms("hold", policy.hold_ms, {0, hour_ms});
    policy.no_progress_ms = map.duration_ms("no_progress", policy.no_progress_ms, {0, 30 * day_ms});
    policy.repeat_ms = map.duration_ms("repeat", policy.repeat_ms, {0, 30 * day_ms});
    read_quiet(map, policy);
    read_digest(map, policy);
    policy.log_lines = static_cast<int>(map.integer("log_lines", policy.log_lines, {0, 10}));
    read_page(map, policy);
    config.channels = read_channels(map, folders);
  });
}

}  // namespace trainward::config
