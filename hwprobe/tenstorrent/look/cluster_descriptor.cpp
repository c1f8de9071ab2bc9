#include "hwprobe/tenstorrent/look/cluster_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/yaml/document.hpp"
#include "common/yaml/scalar.hpp"
#include "hwprobe/stages/loose_json.hpp"

namespace trainward::hwprobe {
namespace {

using yaml::Node;

constexpr std::size_t max_boards = 64;
constexpr std::size_t max_board_chips = 64;
constexpr std::size_t max_links = 512;

// The first thing that is wrong ends the reading.
struct Wrong {
  yaml::Mark mark;
  std::string what;
};

class Reader {
 public:
  explicit Reader(const Node& root) : root_(root) {}

  Result<ClusterDescriptor> read(std::string_view where) {
    read_buses();
    read_boards();
    read_links();
    if (wrong_) {
      return fail(ErrorKind::corrupt, std::move(wrong_->what),
                  fmt::format("{}:{}:{}", where, wrong_->mark.line, wrong_->mark.column),
                  "expected a cluster descriptor as tt-umd writes it");
    }
    return std::move(out_);
  }

 private:
  struct Place {
    std::string serial;
    std::string chip;
  };

  void wrong(const Node& node, std::string what) {
    if (!wrong_) wrong_ = Wrong{node.mark, std::move(what)};
  }

  std::optional<std::int64_t> whole(const Node* node, std::string_view name) {
    if (node == nullptr) return std::nullopt;
    const auto value =
        node->kind == Node::Kind::scalar ? yaml::parse_integer(node->text) : std::nullopt;
    if (!value) wrong(*node, fmt::format("{}: expected a number, found {}", name, describe(*node)));
    return value;
  }

  // A map, or a list of maps with one key each: the format has both.
  static const Node* member(const Node& node, std::string_view key) {
    if (const Node* found = node.find(key)) return found;
    for (const Node& item : node.items) {
      if (const Node* found = item.find(key)) return found;
    }
    return nullptr;
  }

  static std::vector<const yaml::Member*> members(const Node* node) {
    std::vector<const yaml::Member*> out;
    if (node == nullptr) return out;
    for (const yaml::Member& own : node->members) out.push_back(&own);
    for (const Node& item : node->items) {
      for (const yaml::Member& own : item.members) out.push_back(&own);
    }
    return out;
  }

  void read_buses() {
    for (const yaml::Member* chip : members(root_.find("chips_with_mmio"))) {
      if (const auto id = yaml::parse_integer(chip->key)) on_bus_.insert(*id);
    }
    for (const yaml::Member* chip : members(root_.find("chip_pci_bdfs"))) {
      const auto id = yaml::parse_integer(chip->key);
      if (id && chip->value.kind == Node::Kind::scalar) {
        bus_of_[*id] = loose::tidy(chip->value.text);
      }
    }
    for (const yaml::Member* chip : members(root_.find("asic_locations"))) {
      const auto id = yaml::parse_integer(chip->key);
      const auto location = whole(&chip->value, "asic_locations");
      if (id && location) location_of_[*id] = *location;
    }
  }

  void read_boards() {
    const Node* boards = root_.find("boards");
    if (boards == nullptr) {
      wrong(root_, "key 'boards' is missing, without it chips cannot be told apart");
      return;
    }
    if (boards->kind != Node::Kind::list || boards->items.size() > max_boards) {
      wrong(*boards, fmt::format("boards: expected a list of at most {} boards", max_boards));
      return;
    }
    for (const Node& board : boards->items) read_board(board);
  }

  void read_board(const Node& node) {
    const Node* chips = member(node, "chips");
    const auto id = whole(member(node, "board_id"), "board_id");
    if (!id || chips == nullptr || chips->kind != Node::Kind::list ||
        chips->items.size() > max_board_chips) {
      wrong(node, "boards: expected board_id, board_type and a list of chips");
      return;
    }
    ExpectedBoard board;
    board.serial = fmt::format("{:016x}", static_cast<std::uint64_t>(*id));
    const Node* type = member(node, "board_type");
    if (type != nullptr) board.type = loose::tidy(type->text);
    std::vector<std::int64_t> ids;
    for (const Node& chip : chips->items) {
      if (const auto value = whole(&chip, "chips")) ids.push_back(*value);
    }
    std::ranges::sort(ids);
    for (const std::int64_t chip : ids) {
      const std::string name = name_of(chip, ids);
      if (place_of_.contains(chip) || std::ranges::count(board.chips, name) > 0) {
        wrong(node, fmt::format("boards: chip {} is listed twice, or has a place that is", chip));
        return;
      }
      if (board.bus_id.empty() && bus_of_.contains(chip)) board.bus_id = bus_of_[chip];
      place_of_[chip] = {board.serial, name};
      board.chips.push_back(name);
    }
    std::ranges::sort(board.chips);
    out_.expected.boards.push_back(std::move(board));
  }

  std::string name_of(std::int64_t chip, const std::vector<std::int64_t>& on_board) {
    if (on_board.size() == 1) return "L";
    const auto location = location_of_.find(chip);
    if (on_board.size() > 2) {
      return std::to_string(location == location_of_.end() ? chip : location->second);
    }
    if (location != location_of_.end()) return location->second == 0 ? "L" : "R";
    return on_bus_.contains(chip) ? "L" : "R";
  }

  void read_links() {
    if (const Node* others = root_.find("ethernet_connections_to_remote_devices")) {
      out_.links_to_other_hosts = others->items.size();
    }
    const Node* links = root_.find("ethernet_connections");
    if (links == nullptr) return;
    if (links->items.size() > max_links) {
      wrong(*links, fmt::format("ethernet_connections: more than {} links", max_links));
      return;
    }
    for (const Node& link : links->items) {
      // A third entry says how the link is routed.
      if (link.kind != Node::Kind::list || link.items.size() < 2) {
        wrong(link, "ethernet_connections: expected two ends, found " + describe(link));
        return;
      }
      const std::string from = end_of(link.items[0]);
      const std::string to = end_of(link.items[1]);
      if (wrong_) return;
      out_.expected.links.push_back({from, to, false, 0});
    }
  }

  std::string end_of(const Node& node) {
    const auto chip = whole(member(node, "chip"), "chip");
    const auto channel = whole(member(node, "chan"), "chan");
    if (!chip || !channel) {
      wrong(node, "ethernet_connections: expected {chip, chan}, found " + describe(node));
      return {};
    }
    const auto place = place_of_.find(*chip);
    if (place == place_of_.end()) {
      wrong(node, fmt::format("ethernet_connections: chip {} is on none of the boards", *chip));
      return {};
    }
    return fmt::format("{}/{}:{}", place->second.serial, place->second.chip, *channel);
  }

  const Node& root_;
  std::optional<Wrong> wrong_;
  std::set<std::int64_t> on_bus_;
  std::map<std::int64_t, std::string> bus_of_;
  std::map<std::int64_t, std::int64_t> location_of_;
  std::map<std::int64_t, Place> place_of_;
  ClusterDescriptor out_;
};

}  // namespace

Result<ClusterDescriptor> read_cluster_descriptor(std::string_view text, std::string_view where) {
  const yaml::Document document = yaml::parse(text, {.max_bytes = max_descriptor_bytes});
  if (!document.problems.empty()) {
    const yaml::Problem& first = document.problems.front();
    return fail(ErrorKind::corrupt, first.message,
                fmt::format("{}:{}:{}", where, first.mark.line, first.mark.column));
  }
  return Reader(document.root).read(where);
}

}  // namespace trainward::hwprobe
