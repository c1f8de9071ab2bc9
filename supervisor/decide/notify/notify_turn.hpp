// One call of Teller::take() or tick(): what the event did to each episode, and what is told of it.
// The episodes themselves are in turn.cpp, ends of attempts in turn_ends.cpp, boards, checkpoints,
// states and time in turn_states.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/decide/notify/teller.hpp"
#include "supervisor/decide/notify/texts.hpp"

namespace trainward::notify {

class Teller::Turn {
 public:
  Turn(const Teller& teller, Book& book, std::int64_t now_ms, const core::State& state,
       Orders& orders)
      : t_(teller), book_(book), now_ms_(now_ms), state_(state), orders_(orders) {}

  void on_ended(const core::RecordAttemptEnded& ended, const core::WorkerExited* exited);
  void on_span(const core::RecordSpan& span);
  void on_step(const core::RecordStep& step);
  void on_begun();
  void on_board(const core::RecordBoard& board);
  void tell_without_board();
  void on_selected(const core::CheckpointSelected& selected);
  void on_kept();
  void on_shown(bool ended_now);
  void forget_if_stopped();
  void tick();

 private:
  enum class Hold { no, usual, as_before };
  struct How {
    Hold hold = Hold::usual;
    bool again = false;
    bool often = false;
    std::int64_t episodes = 0;
  };

  Episode* find(std::string_view family);
  Episode* first_of_ends();
  Episode& begin(std::string_view family, std::string what = {});
  void tell(Episode& episode, Kind kind, const How& how);
  void tell(Episode& episode, Kind kind) { tell(episode, kind, {}); }
  Message message_of(const Episode& episode, Kind kind, const How& how) const;
  [[nodiscard]] bool pending(const Episode& episode) const {
    return episode.held != 0 && episode.held_until_ms > now_ms_;
  }
  void take_back(Episode& episode);
  void close(Episode& episode, Kind kind);
  void close_ends(bool by_steps);
  void tell_of_end(Episode& episode, bool fresh, Kind kind);
  void tell_of_done();

  const Teller& t_;
  Book& book_;
  std::int64_t now_ms_;
  const core::State& state_;
  Orders& orders_;
};

}  // namespace trainward::notify
