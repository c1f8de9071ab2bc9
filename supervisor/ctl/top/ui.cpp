#include "supervisor/ctl/top/ui.hpp"

#include <algorithm>
#include <utility>

namespace trainward::ctl::top {
namespace {

constexpr std::int64_t fewest_steps = 16;
constexpr std::size_t page = 10;  // lines
constexpr std::size_t longest_filter = 200;
constexpr std::size_t farthest_back = 100'000;
constexpr int interrupted = 130;  // as shells have it of a program that Ctrl-C ended

bool& visible(Ui& ui, Pane pane) { return ui.visible.at(static_cast<std::size_t>(pane)); }

void move_focus(Ui& ui, int by) {
  const int count = static_cast<int>(panes);
  int next = static_cast<int>(ui.focus);
  for (int tries = 0; tries < count; ++tries) {
    next = (next + by + count) % count;
    if (visible(ui, static_cast<Pane>(next))) break;
  }
  ui.focus = static_cast<Pane>(next);
}

void toggle(Ui& ui, Pane pane) {
  visible(ui, pane) = !visible(ui, pane);
  if (!visible(ui, ui.focus)) ui.focus = Pane::programs;
}

// What is known of one program alone.
void forget_details(Snapshot& snapshot) {
  snapshot.curve.reset();
  snapshot.ledgers.clear();
  snapshot.events.clear();
  snapshot.log.lines.clear();
  snapshot.log.attempt = 0;
}

void select(Ui& ui, int by) {
  const auto& programs = ui.shown.programs;
  if (programs.empty()) return;
  const auto at = std::ranges::find(programs, ui.selected, &Program::name);
  const auto last = static_cast<std::int64_t>(programs.size()) - 1;
  std::int64_t index = at == programs.end() ? 0 : at - programs.begin();
  index = std::clamp<std::int64_t>(index + by, 0, last);
  const std::string& name = programs.at(static_cast<std::size_t>(index)).name;
  if (name == ui.selected) return;
  ui.selected = name;
  forget_details(ui.shown);
  ui.zoom = {};
  ui.events_back = 0;
  ui.log_back = 0;
}

void scroll(std::size_t& back, std::int64_t lines) {
  const auto now = static_cast<std::int64_t>(back);
  back = static_cast<std::size_t>(
      std::clamp<std::int64_t>(now + lines, 0, static_cast<std::int64_t>(farthest_back)));
}

void zoom_in(Ui& ui) {
  if (!ui.shown.curve) return;
  const Curve& curve = *ui.shown.curve;
  const std::int64_t all = curve.newest_step - curve.first_step + 1;
  const std::int64_t now = ui.zoom.steps == 0 ? all : ui.zoom.steps;
  const std::int64_t next = std::max(now / 2, fewest_steps);
  if (next >= now) return;
  if (ui.zoom.end != 0) ui.zoom.end -= (now - next) / 2;  // the middle stays
  ui.zoom.steps = next;
}

void zoom_out(Ui& ui) {
  if (!ui.shown.curve || ui.zoom.steps == 0) return;
  const Curve& curve = *ui.shown.curve;
  const std::int64_t next = ui.zoom.steps * 2;
  if (ui.zoom.end != 0) ui.zoom.end += ui.zoom.steps / 2;
  ui.zoom.steps = next;
  if (ui.zoom.end >= curve.newest_step) ui.zoom.end = 0;
  if (next >= curve.newest_step - curve.first_step + 1) ui.zoom = {};
}

void pan(Ui& ui, int quarters) {
  if (!ui.shown.curve || ui.zoom.steps == 0) return;
  const Curve& curve = *ui.shown.curve;
  const std::int64_t end = ui.zoom.end == 0 ? curve.newest_step : ui.zoom.end;
  const std::int64_t moved =
      std::max(end + quarters * std::max<std::int64_t>(ui.zoom.steps / 4, 1),
               std::min(curve.first_step + ui.zoom.steps - 1, curve.newest_step));
  ui.zoom.end = moved >= curve.newest_step ? 0 : moved;
}

// What an arrow does depends on where the focus is.
void move(Ui& ui, int right, int down, std::size_t lines = 1) {
  const auto far = static_cast<std::int64_t>(lines);
  if (right != 0) pan(ui, right);
  if (down == 0) return;
  switch (ui.focus) {
    case Pane::curve:
      down < 0 ? zoom_in(ui) : zoom_out(ui);
      return;
    case Pane::events:
      return scroll(ui.events_back, -down * far);
    case Pane::log:
      return scroll(ui.log_back, -down * far);
    case Pane::programs:
    case Pane::time:
    case Pane::boards:
      return select(ui, static_cast<int>(down * far));
  }
}

void to_end(Ui& ui, bool newest) {
  if (ui.focus == Pane::events) ui.events_back = newest ? 0 : farthest_back;
  if (ui.focus == Pane::log) ui.log_back = newest ? 0 : farthest_back;
  if (ui.focus == Pane::curve && ui.zoom.steps != 0 && ui.shown.curve) {
    ui.zoom.end = newest ? 0 : ui.shown.curve->first_step + ui.zoom.steps - 1;
  }
}

Effect ask(Ui& ui, Verb verb) {
  if (ui.selected.empty()) return {};
  if (ui.shown.origin != Origin::daemon) {
    ui.notice = "trainwardd does not answer, so nothing can be " +
                std::string(verb == Verb::start  ? "started"
                            : verb == Verb::stop ? "stopped"
                                                 : "restarted") +
                " from here";
    return {};
  }
  ui.question = Question{verb, ui.selected, ""};
  return AskCost{verb, ui.selected};
}

Effect answer(Ui& ui, const Key& key) {
  const Question question = *ui.question;
  if (key == Key{KeyName::text, "y"} || key == Key{KeyName::text, "Y"}) {
    // Nobody agrees to what is not yet said.
    if (question.cost.empty()) return {};
    ui.question.reset();
    ui.notice = std::string("asked trainwardd to ") + name_of(question.verb) + " " +
                question.program + " …";
    return Carry{question.verb, question.program};
  }
  ui.question.reset();
  ui.notice = "nothing was done";
  return {};
}

void type_filter(Ui& ui, const Key& key) {
  switch (key.name) {
    case KeyName::text:
      if (ui.filter.size() + key.text.size() <= longest_filter) ui.filter += key.text;
      break;
    case KeyName::backspace:
      while (!ui.filter.empty()) {
        const bool continues = (static_cast<unsigned char>(ui.filter.back()) & 0xC0U) == 0x80U;
        ui.filter.pop_back();
        if (!continues) break;
      }
      break;
    case KeyName::enter:
      ui.filtering = false;
      break;
    case KeyName::escape:
      ui.filter = ui.filter_before;
      ui.filtering = false;
      break;
    case KeyName::control:
      if (key.text == "U") ui.filter.clear();
      break;
    default:
      break;
  }
  ui.events_back = 0;
  ui.log_back = 0;
}

Effect take_letter(Ui& ui, char letter) {
  switch (letter) {
    case 'q':
      return Quit{};
    case '?':
      ui.help = true;
      break;
    case 'h':
      move(ui, -1, 0);
      break;
    case 'j':
      move(ui, 0, 1);
      break;
    case 'k':
      move(ui, 0, -1);
      break;
    case 'l':
      move(ui, 1, 0);
      break;
    case '+':
    case '=':
      zoom_in(ui);
      break;
    case '-':
      zoom_out(ui);
      break;
    case '0':
      ui.zoom = {};
      break;
    case '[':
      select(ui, -1);
      break;
    case ']':
      select(ui, 1);
      break;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
      toggle(ui, static_cast<Pane>(letter - '0'));
      break;
    case 'y':
      ui.logarithmic = !ui.logarithmic;
      break;
    case 'e':
      ui.stream = ui.stream == "stdout" ? "stderr" : "stdout";
      ui.log_back = 0;
      break;
    case '/':
      ui.filter_before = ui.filter;
      ui.filtering = true;
      break;
    case 's':
      return ask(ui, Verb::start);
    case 't':
      return ask(ui, Verb::stop);
    case 'r':
      return ask(ui, Verb::restart);
    default:
      break;
  }
  return {};
}

Effect take_control(const Key& key) {
  if (key.text == "C") return Quit{interrupted};
  if (key.text == "Z") return Suspend{};
  if (key.text == "L") return Redraw{};
  return {};
}

}  // namespace

Effect take(Ui& ui, const Key& key) {
  // These mean the same everywhere.
  if (key.name == KeyName::control && key.text != "U") return take_control(key);
  ui.notice.clear();
  if (ui.question) return answer(ui, key);
  if (ui.help) {
    ui.help = false;
    return key == Key{KeyName::text, "q"} ? Effect(Quit{}) : Effect();
  }
  if (ui.filtering) {
    type_filter(ui, key);
    return {};
  }
  switch (key.name) {
    case KeyName::text:
      return key.text.size() == 1 ? take_letter(ui, key.text[0]) : Effect();
    case KeyName::up:
      move(ui, 0, -1);
      break;
    case KeyName::down:
      move(ui, 0, 1);
      break;
    case KeyName::left:
      move(ui, -1, 0);
      break;
    case KeyName::right:
      move(ui, 1, 0);
      break;
    case KeyName::page_up:
      move(ui, 0, -1, page);
      break;
    case KeyName::page_down:
      move(ui, 0, 1, page);
      break;
    case KeyName::home:
      to_end(ui, false);
      break;
    case KeyName::end:
      to_end(ui, true);
      break;
    case KeyName::tab:
      move_focus(ui, 1);
      break;
    case KeyName::back_tab:
      move_focus(ui, -1);
      break;
    case KeyName::escape:
      ui.filter.clear();
      break;
    case KeyName::enter:
    case KeyName::backspace:
    case KeyName::control:
      break;
  }
  return {};
}

void take(Ui& ui, Snapshot snapshot) {
  const auto known = [&](const std::string& name) {
    return std::ranges::find(snapshot.programs, name, &Program::name) != snapshot.programs.end();
  };
  if (!known(ui.selected) && !snapshot.programs.empty()) {
    ui.selected = known(snapshot.selected) ? snapshot.selected : snapshot.programs.front().name;
    ui.zoom = {};
  }
  // An answer about the program that was selected before.
  if (snapshot.selected != ui.selected) forget_details(snapshot);
  ui.shown = std::move(snapshot);
}

void take_cost(Ui& ui, Verb verb, const std::string& program, std::string cost) {
  if (!ui.question || ui.question->verb != verb || ui.question->program != program) return;
  ui.question->cost = std::move(cost);
}

Interest interest_of(const Ui& ui) {
  Interest interest;
  interest.program = ui.selected;
  interest.stream = ui.stream;
  // Two dots a column of the screen, and a bucket a dot is enough for what can be seen.
  interest.buckets = std::clamp(2 * ui.size.width, 64, 2000);
  if (ui.zoom.steps > 0 && ui.shown.curve) {
    interest.to = ui.zoom.end == 0 ? ui.shown.curve->newest_step : ui.zoom.end;
    interest.from = std::max<std::int64_t>(interest.to - ui.zoom.steps + 1, 1);
  }
  return interest;
}

}  // namespace trainward::ctl::top
