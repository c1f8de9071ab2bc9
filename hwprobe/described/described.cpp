#include "hwprobe/described/described.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "common/yaml/map_reader.hpp"
#include "hwprobe/described/like.hpp"
#include "hwprobe/described/link_ranges.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"

namespace trainward::hwprobe {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::size_t max_entries = 64;  // what a report holds

// Calls `read` with a reader for each map of the list under `key`.
template <typename Read>
void each(MapReader& reader, std::string_view key, const Node* list, Read read) {
  if (list == nullptr) return;
  if (list->kind != Node::Kind::list || list->items.size() > max_entries) {
    reader.report(key, *list,
                  fmt::format("expected a list of at most {} entries, found {}", max_entries,
                              list->kind == Node::Kind::list ? "more" : describe(*list)));
    return;
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    MapReader entry(list->items[i], fmt::format("{}[{}]", reader.path_of(key), i),
                    reader.problems());
    read(entry);
    entry.finish();
  }
}

ChipFacts read_chip(MapReader& reader) {
  constexpr std::array<std::string_view, 2> ids{"L", "R"};
  constexpr std::array<std::string_view, 3> beats{"alive", "frozen", "unknown"};
  ChipFacts chip;
  chip.confidence = "described";
  reader.need("id", "L or R");
  chip.id = reader.one_of("id", ids, "L");
  const NumberRange celsius{.min = -50, .max = 200};
  const bool has_temperature = reader.node().find("temperature_c") != nullptr;
  const double temperature = reader.number("temperature_c", 0, celsius);
  if (has_temperature) chip.temperature_c = temperature;
  chip.limit_c = reader.number("limit_c", 75, celsius);
  const std::string beat = reader.one_of("heartbeat", beats, "alive");
  chip.heartbeat = beat == "frozen" ? Heartbeat::frozen
                                    : (beat == "alive" ? Heartbeat::alive : Heartbeat::unknown);
  chip.looked_at = chip.heartbeat != Heartbeat::unknown || has_temperature;
  return chip;
}

// One entry is several links where its ends are ranges of channels.
void read_links(MapReader& reader, std::vector<LinkFacts>& links) {
  LinkFacts link;
  reader.need("from", "an end such as \"L:8\"");
  const std::string from = reader.text("from", "");
  reader.need("to", "an end such as \"R:0\"");
  const std::string to = reader.text("to", "");
  link.up = reader.boolean("up", true);
  link.retrains = reader.integer("retrains", 0, {});
  const Node* place = reader.node().find("to");
  if (from.empty() || to.empty() || place == nullptr) return;
  const auto ends = links_between_ends(from, to);
  if (!ends) {
    reader.report("to", *place, ends.error().what);
    return;
  }
  for (const auto& [one, other] : *ends) {
    link.from = one;
    link.to = other;
    links.push_back(link);
  }
}

// Where counters may grow to in a run of two weeks is far below what they can hold.
constexpr IntegerRange growth{0, 1'000'000};

WatchPart read_watch_part(MapReader& reader) {
  constexpr std::array<std::string_view, 2> beats{"alive", "frozen"};
  WatchPart part;
  part.samples = reader.integer("samples", part.samples, {1, 1'000'000});
  if (reader.node().find("temperature_c") != nullptr) {
    part.temperature_c = reader.number("temperature_c", 0, {.min = -50, .max = 200});
  }
  part.power_w = reader.number("power_w", part.power_w, {.min = 0, .max = 1000});
  part.clock_mhz = reader.integer("clock_mhz", part.clock_mhz, {0, 10'000});
  part.heartbeat = reader.one_of("heartbeat", beats, "alive") == "alive";
  part.aer_correctable = reader.integer("aer_correctable", 0, growth);
  part.aer_nonfatal = reader.integer("aer_nonfatal", 0, growth);
  part.aer_fatal = reader.integer("aer_fatal", 0, growth);
  return part;
}

void check_serial(MapReader& reader, const std::string& serial) {
  const Node* node = reader.node().find("serial");
  if (node == nullptr || serial.empty()) return;
  const bool digits = std::all_of(serial.begin(), serial.end(),
                                  [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (serial.size() != 16 || !digits) {
    reader.report("serial", *node, "expected 16 hexadecimal digits, found " + describe(*node));
  }
}

DescribedBoard read_board(MapReader& reader) {
  DescribedBoard described;
  BoardFacts& board = described.facts;
  reader.need("serial", "16 hexadecimal digits in quotes");
  board.serial = reader.text("serial", "");
  check_serial(reader, board.serial);
  board.type = reader.text("type", "n300");
  board.bus_id = reader.text("bus_id", "");
  board.firmware = reader.text("firmware", "");
  board.off_bus = reader.boolean("off_bus", false);
  board.has_driver = reader.boolean("driver", true);
  each(reader, "chips", reader.take("chips"),
       [&](MapReader& entry) { board.chips.push_back(read_chip(entry)); });
  const Node* links = reader.take("links");
  each(reader, "links", links, [&](MapReader& entry) { read_links(entry, board.links); });
  if (board.links.size() > max_entries) {
    reader.report(
        "links", *links,
        fmt::format("expected at most {} links, found {}", max_entries, board.links.size()));
  }
  each(reader, "watch", reader.take("watch"),
       [&](MapReader& entry) { described.watch.push_back(read_watch_part(entry)); });
  if (const Node* simulate = reader.take("simulate"); simulate != nullptr) {
    if (simulate->kind == Node::Kind::map) {
      board.simulate = to_json_value(*simulate).as_object();
    } else {
      reader.report("simulate", *simulate, "expected a map of keys, found " + describe(*simulate));
    }
  }
  return described;
}

Result<yaml::Document> parse_file(const std::filesystem::path& file) {
  auto bytes = read_file(file, max_file_bytes);
  if (!bytes) return propagate(bytes);
  return yaml::parse(*bytes, {.max_bytes = max_file_bytes});
}

// The boards of the file named by `like`, which is right in itself; nothing without one.
Result<std::optional<Node>> boards_of_other(MapReader& reader, const std::filesystem::path& file) {
  const Node* like = reader.node().find("like");
  if (like == nullptr) return std::nullopt;
  const std::string name = reader.text("like", "");
  if (name.empty() || name.find('/') != std::string::npos) {
    reader.report("like", *like,
                  "expected the name of a file in the same folder, found " + describe(*like));
    return std::nullopt;
  }
  const std::filesystem::path other = file.parent_path() / name;
  auto document = parse_file(other);
  if (!document) return propagate(document);
  if (document->root.find("like") != nullptr) {
    reader.report("like", *like, name + " is like another file itself; name that one");
    return std::nullopt;
  }
  if (auto right = read_described(other); !right) return propagate(right);
  return *document->root.find("boards");
}

}  // namespace

Result<std::vector<DescribedBoard>> read_described(const std::filesystem::path& file) {
  auto parsed = parse_file(file);
  if (!parsed) return propagate(parsed);
  yaml::Document& document = *parsed;

  std::vector<DescribedBoard> boards;
  MapReader reader(document.root, "", document.problems);
  auto other = boards_of_other(reader, file);
  if (!other) return propagate(other);
  if (!*other) reader.need("boards", "a list of boards");
  const Node* own = reader.take("boards");
  // What is no list changes nothing, and is reported below.
  const Node* described = own;
  if (*other && (own == nullptr || own->kind == Node::Kind::list)) {
    if (own != nullptr) **other = changed_boards(**other, *own, document.problems);
    described = &**other;
  }
  each(reader, "boards", described, [&](MapReader& entry) {
    boards.push_back(read_board(entry));
    const std::string& serial = boards.back().facts.serial;
    const auto same = [&](const DescribedBoard& board) {
      return lower_case(board.facts.serial) == lower_case(serial);
    };
    if (std::ranges::count_if(boards, same) > 1) {
      entry.report("serial", entry.node(), "there is a board " + serial + " already");
    }
  });
  reader.finish();
  if (document.problems.empty()) return boards;
  const yaml::Problem& first = document.problems.front();
  const auto more = static_cast<std::int64_t>(document.problems.size()) - 1;
  return fail(ErrorKind::usage, first.message,
              fmt::format("{}:{}:{}", file.string(), first.mark.line, first.mark.column),
              more == 0 ? "" : "and " + count(more, "more problem"));
}

Result<Report> look_at_described(const std::filesystem::path& file) {
  const auto boards = read_described(file);
  if (!boards) return tl::unexpected<Error>(boards.error());
  Report report;
  report.source = "described";
  for (const DescribedBoard& board : *boards) report.boards.push_back(judge(board.facts));
  if (report.boards.empty()) {
    report.evidence.push_back({"the file describes no boards", ""});
  }
  return report;
}

Result<std::vector<Sampler>> described_samplers(const std::filesystem::path& file,
                                                const std::vector<std::string>& boards) {
  auto described = read_described(file);
  if (!described) return propagate(described);
  std::vector<Sampler> samplers;
  for (const std::string& board : boards) {
    const auto found =
        std::find_if(described->begin(), described->end(), [&](const DescribedBoard& candidate) {
          return candidate.facts.serial == board || candidate.facts.bus_id == board;
        });
    if (found == described->end()) {
      return fail(ErrorKind::usage, "the file describes no such board: " + board, file.string());
    }
    samplers.emplace_back([board, facts = *found](std::int64_t round) {
      Sample sample = described_sample(facts, round);
      sample.board = board;
      return sample;
    });
  }
  return samplers;
}

}  // namespace trainward::hwprobe
