#include "supervisor/ctl/top/paint.hpp"

#include <fmt/format.h>

#include <optional>

#include "supervisor/ctl/top/glyphs.hpp"

namespace trainward::ctl::top {
namespace {

// Rewriting a few cells is shorter than moving past them.
constexpr int shortest_gap = 5;

const Cell blank{};

class Painter {
 public:
  Painter(const Canvas* shown, const Canvas& wanted, PaintOptions options)
      : shown_(shown), wanted_(wanted), options_(options) {}

  std::string text() {
    if (shown_ == nullptr) out_ += "\x1b[0m\x1b[2J";
    for (int y = 0; y < wanted_.size().height; ++y) row(y);
    if (!(look_ == Look{})) out_ += "\x1b[0m";
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool differs(int x, int y) const {
    return !((shown_ == nullptr ? blank : shown_->at(x, y)) == wanted_.at(x, y));
  }

  // A wide character is written whole, whichever of its halves differs.
  [[nodiscard]] bool differs_as_glyph(int x, int y) const {
    const bool right_half = wanted_.at(x, y).text.empty();
    const bool has_right = x + 1 < wanted_.size().width && wanted_.at(x + 1, y).text.empty();
    return differs(x, y) || (right_half && x > 0 && differs(x - 1, y)) ||
           (has_right && differs(x + 1, y));
  }

  // From where on the row is blank.
  [[nodiscard]] int blank_from(int y) const {
    int end = wanted_.size().width;
    while (end > 0 && wanted_.at(end - 1, y) == blank) --end;
    return end;
  }

  void row(int y) {
    const int end = blank_from(y);
    int last = -1;  // column behind what was written of this row
    for (int x = 0; x < end; ++x) {
      if (!differs_as_glyph(x, y) || wanted_.at(x, y).text.empty()) continue;
      if (last >= 0 && x > last && x - last < shortest_gap) {
        for (int between = last; between < x; ++between) write(between, y);
      }
      write(x, y);
      last = x + 1;
    }
    bool rest_differs = false;
    for (int x = end; x < wanted_.size().width; ++x) rest_differs |= differs(x, y);
    if (!rest_differs) return;
    go_to(end, y);
    set({});
    out_ += "\x1b[K";
  }

  void write(int x, int y) {
    const Cell& cell = wanted_.at(x, y);
    if (cell.text.empty()) return;
    go_to(x, y);
    set(cell.look);
    const bool wide = x + 1 < wanted_.size().width && wanted_.at(x + 1, y).text.empty();
    out_ += options_.ascii ? ascii_of({cell.text, wide ? 2 : 1}) : cell.text;
    column_ = x + (wide ? 2 : 1);
    // Terminals do not agree on how wide some characters are: behind them the cursor is set.
    // Braille, lines and blocks are one column everywhere.
    const bool sure = options_.ascii || cell.text.size() == 1 ||
                      (cell.text >= "\u2500" && cell.text <= "\u259F") ||
                      (cell.text >= "\u2800" && cell.text <= "\u28FF");
    if (!sure) column_.reset();
  }

  void go_to(int x, int y) {
    if (row_ == y && column_ == x) return;
    if (row_ == y && column_ && x > *column_) {
      out_ += fmt::format("\x1b[{}C", x - *column_);
    } else {
      out_ += fmt::format("\x1b[{};{}H", y + 1, x + 1);
    }
    row_ = y;
    column_ = x;
  }

  void set(Look look) {
    if (look == look_) return;
    std::string codes = "0";
    if (look.bold) codes += ";1";
    if (look.dim) codes += ";2";
    if (look.reverse) codes += ";7";
    if (options_.colour && look.ink != Ink::plain) {
      codes += fmt::format(";3{}", static_cast<int>(look.ink));
    }
    if (codes == "0") codes.clear();
    // Without colours a change of colour alone writes nothing.
    if (codes != codes_) out_ += "\x1b[" + codes + "m";
    codes_ = codes;
    look_ = look;
  }

  const Canvas* shown_;
  const Canvas& wanted_;
  PaintOptions options_;
  std::string out_;
  int row_ = -1;
  std::optional<int> column_;
  Look look_;
  std::string codes_;
};

}  // namespace

std::string paint(const Canvas* shown, const Canvas& wanted, PaintOptions options) {
  if (shown != nullptr && !(shown->size() == wanted.size())) shown = nullptr;
  return Painter(shown, wanted, options).text();
}

}  // namespace trainward::ctl::top
