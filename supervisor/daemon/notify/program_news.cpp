#include "supervisor/daemon/notify/program_news.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"

namespace trainward::daemon {
namespace {

// The wall clock may be set while a timer waits.
constexpr std::int64_t look_again_ms = 900'000;
constexpr std::int64_t refused_wait_ms = 10'000;

}  // namespace

ProgramNews::ProgramNews(Loop& loop, News& news, store::Store& store, session::Records& records,
                         std::string program, const core::Policy& policy,
                         std::function<const core::State&()> state)
    : news_(news),
      store_(store),
      records_(records),
      program_(std::move(program)),
      state_(std::move(state)),
      teller_(news.around(), program_, policy),
      timer_(loop) {}

Status ProgramNews::recover(std::int64_t seen_ms) {
  auto rows = store_.open_episodes(program_);
  if (!rows) return propagate(rows);
  auto memory = store_.telling(program_);
  if (!memory) return propagate(memory);
  now_ = {};
  now_.seen_ms = seen_ms;
  // What cannot be read was written by another release: it starts empty, as after an upgrade.
  if (auto standing = notify::standing_from(*memory)) now_.standing = std::move(*standing);
  for (const store::EpisodeRow& row : *rows) {
    if (!notify::is_of_teller(row.family)) continue;  // News::stands() keeps it
    auto episode = notify::episode_from(row.memory);
    if (episode && episode->id == row.id && episode->family == row.family) {
      now_.episodes.push_back(std::move(*episode));
    } else {
      // It would stand in the way of the next one, and its end could never be told.
      const std::string why = episode ? "it is of another one" : episode.error().message();
      spdlog::warn("{}: what is remembered of '{}' cannot be read: {}", program_, row.family, why);
      news_.over(program_, row.family,
                 "what was remembered of it cannot be read; if it lasts, it is told again");
    }
  }
  committed_ = now_;
  arm();
  return {};
}

Status ProgramNews::record(const session::Happening& what, const core::State& state,
                           std::span<const core::Action> actions) {
  if (auto recorded = records_.record(what, state, actions); !recorded) return recorded;
  notify::Orders orders;
  teller_.take(now_, what.event, what.at, state, actions, orders);
  return news_.write(orders);
}

Status ProgramNews::save(const core::State& state, Time at,
                         std::optional<session::JournalPlace> read) {
  if (auto saved = records_.save(state, at, read); !saved) return saved;
  return write_book();
}

Status ProgramNews::write_book() {
  for (const notify::Episode& episode : now_.episodes) {
    const auto known = std::ranges::find(committed_.episodes, episode.id, &notify::Episode::id);
    if (known != committed_.episodes.end() && *known == episode) continue;
    if (auto put = store_.put_episode(row_of(episode, program_)); !put) return put;
  }
  if (now_.standing == committed_.standing) return {};
  return store_.put_telling(program_, notify::to_json_text(now_.standing));
}

void ProgramNews::settle(bool committed) {
  records_.settle(committed);
  settle_book(committed);
}

void ProgramNews::settle_book(bool committed) {
  if (!committed) {
    now_ = committed_;
    return;
  }
  std::erase_if(now_.episodes,
                [](const notify::Episode& episode) { return episode.closed_ms != 0; });
  committed_ = now_;
  arm();
}

// By the state that the session is about to adopt at the latest: a timer that comes too early finds
// nothing due.
void ProgramNews::arm() {
  const auto due = teller_.next(now_, state_());
  if (!due) return timer_.cancel();
  const std::int64_t wait = std::clamp<std::int64_t>(*due - now().wall.ms, 1, look_again_ms);
  timer_.after(wait, [this] { on_time(); });
}

void ProgramNews::on_time() {
  const std::int64_t now_ms = now().wall.ms;
  const auto due = teller_.next(now_, state_());
  if (!due || *due > now_ms) return arm();
  const auto told = [&]() -> Status {
    auto transaction = store_.begin(store::Store::Survives::process);
    if (!transaction) return propagate(transaction);
    notify::Orders orders;
    teller_.tick(now_, now_ms, state_(), orders);
    if (auto written = news_.write(orders); !written) return written;
    if (auto written = write_book(); !written) return written;
    fault_point("news.before_commit");
    auto committed = transaction->commit();
    fault_point("news.after_commit");
    return committed;
  }();
  settle_book(told.has_value());
  if (told) return;
  spdlog::warn("{}: {}", program_, told.error().message());
  timer_.after(refused_wait_ms, [this] { on_time(); });
}

}  // namespace trainward::daemon
