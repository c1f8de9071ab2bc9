#include "supervisor/ctl/live/live_loop.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/live/live_feed.hpp"
#include "supervisor/ctl/live/live_signals.hpp"
#include "supervisor/ctl/live/screen.hpp"
#include "supervisor/ctl/top/keys.hpp"
#include "supervisor/ctl/top/paint.hpp"
#include "supervisor/ctl/top/top_view.hpp"

namespace trainward::ctl::live {
namespace {

class Loop {
 public:
  Loop(const Context& context, const LoopOptions& options, Screen& screen, Signals& signals,
       Feed& feed)
      : context_(context),
        paint_{options.colour, options.ascii},
        screen_(screen),
        signals_(signals),
        feed_(feed) {
    ui_.selected = options.program;
    ui_.ascii = options.ascii;
    ui_.shown.trouble = "asking trainwardd …";
  }

  int run() {
    screen_.enter();
    ui_.size = screen_.size();
    while (!status_) {
      feed_.want(top::interest_of(ui_));
      if (!draw()) break;
      wait();
    }
    // Nothing is printed: with the terminal gone, nobody is left to read it.
    return status_.value_or(128 + SIGHUP);
  }

 private:
  // Nothing while the last picture is on its way: on a slow line pictures are left out, and what is
  // drawn is the newest.
  bool draw() {
    if (screen_.waits()) return screen_.write({});
    top::Canvas wanted = top::draw(ui_);
    const std::string bytes = top::paint(on_screen_ ? &*on_screen_ : nullptr, wanted, paint_);
    on_screen_ = std::move(wanted);
    return bytes.empty() || screen_.write(bytes);
  }

  void wait() {
    std::array<pollfd, 4> fds{{{STDIN_FILENO, POLLIN, 0},
                               {signals_.fd(), POLLIN, 0},
                               {feed_.ready(), POLLIN, 0},
                               {screen_.waits() ? screen_.out() : -1, POLLOUT, 0}}};
    const auto patience = keys_.patience_ms();
    const int ready = ::poll(fds.data(), fds.size(), patience.value_or(-1));
    if (ready < 0) {
      if (errno != EINTR) status_ = exit_status::failed;
      return;
    }
    if (ready == 0) return take(keys_.give_up());
    if (fds[1].revents != 0) take_signals();
    if (fds[0].revents != 0) read_keys();
    if (fds[2].revents != 0) {
      for (News& news : feed_.take()) take(std::move(news));
    }
  }

  void take_signals() {
    for (int signal = signals_.next(); signal != 0; signal = signals_.next()) {
      if (ends(signal)) status_ = 128 + signal;
      if (signal == SIGTSTP) suspend();
      if (signal == SIGWINCH) {
        ui_.size = screen_.size();
        on_screen_.reset();
      }
      // Stopped without a word (SIGSTOP), the shell had the terminal meanwhile.
      if (signal == SIGCONT) come_back();
    }
  }

  void suspend() {
    screen_.leave();
    Signals::stop_process();
    come_back();
  }

  void come_back() {
    screen_.enter();
    ui_.size = screen_.size();
    on_screen_.reset();
  }

  void read_keys() {
    std::array<char, 1024> bytes{};
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      status_ = 128 + SIGHUP;
      return;
    }
    take(keys_.take({bytes.data(), static_cast<std::size_t>(got)}));
  }

  void take(const std::vector<top::Key>& keys) {
    for (const top::Key& key : keys) {
      const top::Effect effect = top::take(ui_, key);
      if (const auto* quit = std::get_if<top::Quit>(&effect)) status_ = quit->status;
      if (std::holds_alternative<top::Suspend>(effect)) suspend();
      if (std::holds_alternative<top::Redraw>(effect)) on_screen_.reset();
      if (const auto* cost = std::get_if<top::AskCost>(&effect)) feed_.ask(*cost);
      if (const auto* command = std::get_if<top::Carry>(&effect)) feed_.carry_out(*command);
      if (status_) return;
    }
  }

  void take(News news) {
    if (auto* snapshot = std::get_if<top::Snapshot>(&news)) {
      top::take(ui_, std::move(*snapshot));
    } else if (auto* cost = std::get_if<Cost>(&news)) {
      top::take_cost(ui_, cost->verb, cost->program, std::move(cost->text));
    } else if (auto* outcome = std::get_if<Outcome>(&news)) {
      ui_.notice = std::move(outcome->text);
    }
  }

  const Context& context_;
  top::PaintOptions paint_;
  Screen& screen_;
  Signals& signals_;
  Feed& feed_;
  top::Ui ui_;
  top::KeyParser keys_;
  std::optional<top::Canvas> on_screen_;
  std::optional<int> status_;
};

}  // namespace

int run_screen(const Context& context, const LoopOptions& options) {
  // Signals before threads, so that these hold them back too; the terminal last, so that it is
  // given back first: whatever is waited for then, is waited for in a terminal that works.
  auto signals = Signals::open();
  if (!signals) return finish(context, {exit_status::failed, std::move(signals.error())});
  auto feed = Feed::start(context, options.ascii);
  if (!feed) return finish(context, {exit_status::failed, std::move(feed.error())});
  auto screen = Screen::open(STDIN_FILENO, STDOUT_FILENO);
  if (!screen) return finish(context, {exit_status::failed, std::move(screen.error())});
  try {
    return Loop(context, options, *screen, *signals, **feed).run();
  } catch (const std::exception& error) {
    // An exception that nobody catches would end the process with the terminal as it is.
    screen->leave();
    return finish(context,
                  {exit_status::failed,
                   {ErrorKind::permanent, fmt::format("the screen broke: {}", error.what()), "",
                    "trainwardctl status prints the same as lines"}});
  }
}

}  // namespace trainward::ctl::live
