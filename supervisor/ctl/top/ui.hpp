// What the screen shows and what its user is doing, and how keys and news change it. Pure: what has
// to be done outside comes back as an effect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "supervisor/ctl/top/canvas.hpp"
#include "supervisor/ctl/top/keys.hpp"
#include "supervisor/ctl/top/model.hpp"

namespace trainward::ctl::top {

// In the order of the Tab key. All but the first can be put away with the key of their number.
enum class Pane : std::uint8_t { programs, curve, time, boards, events, log };
inline constexpr std::size_t panes = 6;

enum class Verb : std::uint8_t { start, stop, restart };
inline constexpr std::array<const char*, 3> verb_names{"start", "stop", "restart"};
constexpr const char* name_of(Verb verb) { return verb_names.at(static_cast<std::size_t>(verb)); }

// Which steps of the curve are shown.
struct Zoom {
  std::int64_t steps = 0;  // how many; 0: all
  std::int64_t end = 0;    // the last of them; 0: the newest, and it goes on with it
  friend bool operator==(const Zoom&, const Zoom&) = default;
};

// Whether something is to be done to a program, waiting for y or n.
struct Question {
  Verb verb = Verb::start;
  std::string program;
  std::string cost;  // in words; empty: it is being asked for
};

struct Ui {
  Size size{80, 24};
  bool ascii = false;
  bool plain = false;  // goes to no terminal: without keys and what they choose
  Snapshot shown;
  std::string selected;  // program
  Pane focus = Pane::programs;
  std::array<bool, panes> visible{true, true, true, true, true, true};
  Zoom zoom;
  bool logarithmic = false;
  std::string filter;      // of events and log
  bool filtering = false;  // it is being typed
  std::string filter_before;
  std::size_t events_back = 0;  // lines scrolled back from the newest
  std::size_t log_back = 0;
  std::string stream = "stdout";  // whose lines the log pane has
  std::optional<Question> question;
  bool help = false;
  std::string notice;  // what came of the last command; until the next key
};

struct Quit {
  int status = 0;  // the exit code
};
struct Suspend {};  // Ctrl-Z
struct Redraw {};   // Ctrl-L: as if nothing were known of the screen
struct AskCost {
  Verb verb;
  std::string program;
};
struct Carry {  // out
  Verb verb;
  std::string program;
};
using Effect = std::variant<std::monostate, Quit, Suspend, Redraw, AskCost, Carry>;

Effect take(Ui& ui, const Key& key);
void take(Ui& ui, Snapshot snapshot);
// What a command would cost. Left out when the question is no longer open.
void take_cost(Ui& ui, Verb verb, const std::string& program, std::string cost);

// What has to be asked for to draw this screen.
struct Interest {
  std::string program;
  std::int64_t from = 0;  // steps; both 0: all
  std::int64_t to = 0;
  int buckets = 0;
  std::string stream;
  friend bool operator==(const Interest&, const Interest&) = default;
};
Interest interest_of(const Ui& ui);

}  // namespace trainward::ctl::top
