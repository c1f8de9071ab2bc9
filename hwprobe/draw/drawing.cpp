#include "hwprobe/draw/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "common/terminal/display_text.hpp"
#include "hwprobe/draw/verdict_colour.hpp"
#include "hwprobe/topology/connectors.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t max_word = 40;  // columns of a word from elsewhere

struct Line {
  std::string_view picture;  // all of one width
  std::string_view meaning;
  Colour colour;
};

// A link that works but was retrained is worth a look.
enum class Look { up, assumed, retrained, down };
constexpr std::array<Line, 4> lines{{{"---------", "up", Colour::green},
                                     {"- - - - -", "not looked at", Colour::dim},
                                     {"----~----", "up, was retrained", Colour::yellow},
                                     {"----x----", "down", Colour::red}}};

Look look_of(const GraphLink& link) {
  switch (link.state) {
    case LinkState::up:
      return link.retrains > 0 ? Look::retrained : Look::up;
    case LinkState::assumed:
      return Look::assumed;
    case LinkState::down:
      return Look::down;
  }
  return Look::down;
}

std::string word(std::string_view text) { return shortened(clean(text), max_word); }

class Drawing {
 public:
  Drawing(const Graph& graph, bool colours) : graph_(graph), colours_(colours) {}

  std::string text() {
    for (std::size_t board = 0; board < graph_.boards.size(); ++board) {
      if (board > 0) out_ += '\n';
      draw_board(board);
    }
    legend();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  [[nodiscard]] std::string verdict(Verdict verdict) const {
    return painted(to_string(verdict), colour_of(verdict), colours_);
  }

  std::string line(const GraphLink& link) {
    const Look look = look_of(link);
    seen_[static_cast<std::size_t>(look)] = true;
    const Line& line = lines[static_cast<std::size_t>(look)];
    return painted(line.picture, line.colour, colours_);
  }

  void draw_board(std::size_t index) {
    const GraphBoard& board = graph_.boards[index];
    out_ += painted(word(board.serial), Colour::bold, colours_);
    for (const std::string& text : {board.type, board.bus_id}) {
      if (!text.empty()) print("  {}", word(text));
    }
    print("  {}\n", verdict(board.verdict));

    std::vector<std::size_t> chips;
    for (std::size_t chip = 0; chip < graph_.chips.size(); ++chip) {
      if (graph_.chips[chip].board == index) chips.push_back(chip);
    }
    const bool side_by_side = chips.size() == 2;
    if (side_by_side) {
      draw_pair(chips[0], chips[1]);
    } else {
      for (const std::size_t chip : chips) draw_alone(chip);
    }
    for (const GraphLink& link : graph_.links) {
      if (graph_.chips[link.from].board != index) continue;
      const bool own = graph_.chips[link.to].board == index;
      if (!(own && side_by_side)) draw_below(link, own);
    }
  }

  // "L  OK  57°C" without colours, for its width.
  [[nodiscard]] std::string plain(std::size_t chip) const {
    const GraphChip& node = graph_.chips[chip];
    return fmt::format("{}  {}{}", word(node.id), to_string(node.verdict), heat(node));
  }

  [[nodiscard]] std::string coloured(std::size_t chip) const {
    const GraphChip& node = graph_.chips[chip];
    return fmt::format("{}  {}{}", word(node.id), verdict(node.verdict), heat(node));
  }

  static std::string heat(const GraphChip& chip) {
    return chip.temperature_c == 0 ? "" : fmt::format("  {:.0f}°C", chip.temperature_c);
  }

  void draw_alone(std::size_t chip) {
    const std::string edge(display_width(plain(chip)) + 2, '-');
    print("  +{}+\n  | {} |\n  +{}+\n", edge, coloured(chip), edge);
  }

  void draw_pair(std::size_t left, std::size_t right) {
    std::vector<const GraphLink*> between;
    std::size_t ports = 1;
    for (const GraphLink& link : graph_.links) {
      if (link.from != left || link.to != right) continue;
      between.push_back(&link);
      for (const std::string& port : {link.from_port, link.to_port}) {
        ports = std::max(ports, display_width(word(port)));
      }
    }
    const std::array widths{display_width(plain(left)), display_width(plain(right))};
    const std::string gap(between.empty() ? 3 : lines[0].picture.size() + 2 * ports + 4, ' ');
    const auto edges = [&] {
      print("  +{}+{}+{}+\n", std::string(widths[0] + 2, '-'), gap,
            std::string(widths[1] + 2, '-'));
    };
    edges();
    for (std::size_t row = 0; row < std::max<std::size_t>(between.size(), 1); ++row) {
      const bool first = row == 0;
      const std::string middle =
          row < between.size()
              ? fmt::format(" {:>{}} {} {:<{}} ", word(between[row]->from_port), ports,
                            line(*between[row]), word(between[row]->to_port), ports)
              : gap;
      print("  | {} |{}| {} |\n", first ? coloured(left) : std::string(widths[0], ' '), middle,
            first ? coloured(right) : std::string(widths[1], ' '));
    }
    edges();
  }

  void draw_below(const GraphLink& link, bool own) {
    const auto end = [&](std::size_t chip, const std::string& port, bool full) {
      const GraphChip& node = graph_.chips[chip];
      const GraphBoard& board = graph_.boards[node.board];
      std::string text = fmt::format("{}{}{}", word(full ? graph_.name(chip) : node.id),
                                     port.empty() ? "" : ":", word(port));
      // Of the many cables of a host only those that somebody has to find.
      if (link.state != LinkState::down) return text;
      return with_connector(std::move(text),
                            socket_of({board.type, board.bus_id}, {"", node.id, port}));
    };
    print("    {} {} {}\n", end(link.from, link.from_port, false), line(link),
          end(link.to, link.to_port, !own));
  }

  void legend() {
    bool first = true;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!seen_[i]) continue;
      print("{}{} {}", first ? "\n" : "   ", painted(lines[i].picture, lines[i].colour, colours_),
            lines[i].meaning);
      first = false;
    }
    if (!first) out_ += '\n';
  }

  const Graph& graph_;
  bool colours_;
  std::array<bool, lines.size()> seen_{};
  std::string out_;
};

}  // namespace

std::string draw(const Graph& graph, bool colours) { return Drawing(graph, colours).text(); }

}  // namespace trainward::hwprobe
