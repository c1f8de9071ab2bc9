// What people are told of one program: the rows of its news are in the transaction of the event
// that they tell of.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/notify/news.hpp"
#include "supervisor/decide/core/policy.hpp"
#include "supervisor/decide/notify/teller.hpp"
#include "supervisor/decide/session/ports.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

// Records what the ones behind it record, and the news of it.
class ProgramNews final : public session::Records {
 public:
  // Borrows all of them; `state`: as committed, of the session that this records for.
  ProgramNews(Loop& loop, News& news, store::Store& store, session::Records& records,
              std::string program, const core::Policy& policy,
              std::function<const core::State&()> state);

  // What an earlier daemon remembered. `seen_ms`: the newest that it has heard of the program.
  Status recover(std::int64_t seen_ms);

  // ---- session::Records ----
  Status record(const session::Happening& what, const core::State& state,
                std::span<const core::Action> actions) override;
  Status save(const core::State& state, Time at,
              std::optional<session::JournalPlace> read) override;
  void settle(bool committed) override;

 private:
  Status write_book();
  void settle_book(bool committed);
  void arm();
  void on_time();

  News& news_;
  store::Store& store_;
  session::Records& records_;
  std::string program_;
  std::function<const core::State&()> state_;
  notify::Teller teller_;
  notify::Book now_;
  notify::Book committed_;
  Timer timer_;
};

}  // namespace trainward::daemon
