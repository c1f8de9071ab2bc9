#include "supervisor/daemon/notify/news.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/state.hpp"
#include "supervisor/decide/notify/texts.hpp"
#include "supervisor/record/outbox/record.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t day_ms = 86'400'000;
constexpr std::int64_t longest_wait_ms = 900'000;  // the wall clock may be set meanwhile
constexpr std::int64_t try_again_ms = 60'000;
constexpr std::int64_t told_again_ms = 12 * 3'600'000LL;  // that the database refused
constexpr std::int64_t most_looked_at = 1'000;

std::int64_t local_offset_ms(std::int64_t wall_ms) {
  const std::time_t seconds = wall_ms / 1000;
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return 0;
  return static_cast<std::int64_t>(local.tm_gmtoff) * 1000;
}

}  // namespace

store::EpisodeRow row_of(const notify::Episode& episode, const std::string& program) {
  return {episode.id,
          program,
          episode.family,
          std::string(core::to_string(episode.end.cause)),
          episode.told ? std::string(to_string(*episode.told)) : "",
          episode.opened_ms,
          episode.closed_ms,
          notify::to_json_text(episode)};
}

News::News(Loop& loop, store::Store& store, notify::Policy policy,
           std::filesystem::path state_folder)
    : store_(store),
      state_folder_(std::move(state_folder)),
      timer_(loop),
      around_{std::move(policy), local_offset_ms,
              [this](std::int64_t now_ms) { return new_id(now_ms); },
              [this](const std::string& program, std::int64_t now_ms) {
                return figures(program, now_ms);
              }} {}

Status News::begin() {
  const std::int64_t now_ms = now().wall.ms;
  auto newest = store_.new_id(0);
  if (!newest) return propagate(newest);
  newest_id_ = *newest;
  auto memory = store_.telling("");
  if (!memory) return propagate(memory);
  if (auto digests = notify::digest_memory_from(*memory)) digests_ = *digests;
  if (const auto sound = notify::sound(digests_, now_ms); sound != digests_) {
    digests_ = sound;
    if (auto put = store_.put_telling("", notify::to_json_text(digests_)); !put) return put;
  }
  arm();
  return {};
}

void News::take_over(notify::Policy policy) {
  around_.policy = std::move(policy);
  arm();
}

std::int64_t News::new_id(std::int64_t now_ms) {
  newest_id_ = std::max(newest_id_ + 1, now_ms);
  return newest_id_;
}

// What cannot be read is left out: the message is what matters.
notify::Figures News::figures(const std::string& program, std::int64_t now_ms) const {
  notify::Figures figures;
  if (auto ledger = store_.ledger_json(program, day_ms / 1000, now());
      ledger && number_or(*ledger, "total_seconds", 0) > 0) {
    figures.effective_share = number_or(*ledger, "effective_share", 0);
  }
  if (auto ends = store_.ends_since(program, now_ms - day_ms)) {
    for (const auto& [cause, times] : *ends) figures.attempts_today += times;
  }
  return figures;
}

store::MessageRow News::row_of(const notify::Message& message) const {
  return {message.id,
          message.at_ms,
          message.not_before_ms,
          message.program,
          message.episode,
          std::string(to_string(message.tier)),
          std::string(to_string(message.kind)),
          message.title,
          json::serialize(notify::body_of(message)),
          false};
}

Status News::write(const notify::Orders& orders) {
  for (const std::int64_t id : orders.taken_back) {
    if (auto dropped = store_.drop_message(id); !dropped) return dropped;
  }
  for (const notify::Message& message : orders.messages) {
    if (auto added = store_.add_message(row_of(message)); !added) return propagate(added);
  }
  return {};
}

// ---- troubles of its own ----

void News::stands(notify::Kind kind, const std::string& program, const std::string& family,
                  const std::string& title, const std::string& what) {
  const std::int64_t now_ms = now().wall.ms;
  const auto told = [&]() -> Status {
    auto transaction = store_.begin(store::Store::Survives::process);
    if (!transaction) return propagate(transaction);
    auto open = store_.open_episodes(program);
    if (!open) return propagate(open);
    if (std::ranges::find(*open, family, &store::EpisodeRow::family) != open->end()) return {};
    const std::int64_t episode = new_id(now_ms);
    auto put =
        store_.put_episode({episode, program, family, "",
                            std::string(to_string(notify::facts(kind).tier)), now_ms, 0, "{}"});
    if (!put) return put;
    notify::Message message = notify::worded(kind, program, title, what, around_.policy);
    message.id = new_id(now_ms);
    message.at_ms = message.started_ms = now_ms;
    message.episode = episode;
    message.not_before_ms = message.tier == notify::Tier::critical
                                ? now_ms
                                : notify::unhurried(around_.policy, now_ms, around_.zone);
    if (auto written = write({{}, {message}}); !written) return written;
    return transaction->commit();
  }();
  if (!told) spdlog::warn("{}", told.error().message());
}

void News::over(const std::string& program, const std::string& family, const std::string& what) {
  const std::int64_t now_ms = now().wall.ms;
  const auto told = [&]() -> Status {
    auto transaction = store_.begin(store::Store::Survives::process);
    if (!transaction) return propagate(transaction);
    auto open = store_.open_episodes(program);
    if (!open) return propagate(open);
    const auto found = std::ranges::find(*open, family, &store::EpisodeRow::family);
    if (found == open->end()) return {};
    found->closed_ms = now_ms;
    if (auto put = store_.put_episode(*found); !put) return put;
    if (found->tier.empty()) return transaction->commit();  // nobody was told
    notify::Message message =
        notify::worded(notify::Kind::recovered, program, family + ", over", what, around_.policy);
    message.id = new_id(now_ms);
    message.at_ms = now_ms;
    message.started_ms = found->opened_ms;
    message.episode = found->id;
    message.resolves = true;
    message.not_before_ms = notify::unhurried(around_.policy, now_ms, around_.zone);
    if (auto written = write({{}, {message}}); !written) return written;
    return transaction->commit();
  }();
  if (!told) spdlog::warn("{}", told.error().message());
}

void News::removed(const std::string& program) {
  const auto open = store_.open_episodes(program);
  if (!open) return spdlog::warn("{}", open.error().message());
  for (const store::EpisodeRow& episode : *open) {
    over(program, episode.family, "the program was removed from the configuration");
  }
}

void News::note(notify::Kind kind, const std::string& title, const std::string& what) {
  const std::int64_t now_ms = now().wall.ms;
  notify::Message message = notify::worded(kind, "", title, what, around_.policy);
  message.id = new_id(now_ms);
  message.at_ms = message.started_ms = now_ms;
  message.not_before_ms = message.tier == notify::Tier::critical
                              ? now_ms
                              : notify::unhurried(around_.policy, now_ms, around_.zone);
  if (auto written = write({{}, {message}}); !written) {
    spdlog::warn("{}", written.error().message());
  }
}

// It could not be told while it lasted. What comes and goes is told once in a while.
void News::refused(const Error& why, std::int64_t lasted_ms) {
  const std::int64_t now_ms = now().wall.ms;
  if (lasted_ms < around_.policy.hold_ms) return;
  if (told_refusal_ms_ > 0 && now_ms - told_refusal_ms_ < told_again_ms) return;
  told_refusal_ms_ = now_ms;
  note(notify::Kind::database, "the run database refused for " + human_duration(lasted_ms),
       fmt::format("for {} the run database did not take what happened: {}; workers went on, and "
                   "all of it is recorded now. Look at the disk of the state folder",
                   human_duration(lasted_ms), why.message()));
}

// ---- digest ----

void News::arm() {
  const std::int64_t now_ms = now().wall.ms;
  digests_ = notify::sound(digests_, now_ms);
  std::int64_t due = pruned_ms_ + day_ms;
  if (const auto digest = notify::digest_due(around_.policy, digests_, around_.zone)) {
    due = std::min(due, *digest);
  }
  timer_.after(std::clamp<std::int64_t>(due - now_ms, 1, longest_wait_ms), [this] { on_time(); });
}

void News::on_time() {
  const notify::DigestMemory before = digests_;
  const auto done = [&]() -> Status {
    auto transaction = store_.begin(store::Store::Survives::process);
    if (!transaction) return propagate(transaction);
    if (auto looked = look_after(now().wall.ms); !looked) return looked;
    return transaction->commit();
  }();
  if (done) return arm();
  digests_ = before;
  spdlog::warn("{}", done.error().message());
  timer_.after(try_again_ms, [this] { on_time(); });
}

Status News::look_after(std::int64_t now_ms) {
  if (now_ms - pruned_ms_ >= day_ms || now_ms < pruned_ms_) {
    if (auto pruned = store_.prune_messages(now_ms - notify::kept_ms); !pruned) return pruned;
    pruned_ms_ = now_ms;
  }
  const auto due = notify::digest_due(around_.policy, digests_, around_.zone);
  if (!due || *due > now_ms) return {};
  auto something = happened(digests_.looked_ms);
  if (!something) return propagate(something);
  const notify::Digest which = notify::digest_now(digests_, now_ms, *something);
  digests_.looked_ms = now_ms;
  if (which != notify::Digest::none) {
    if (auto sent = send_digest(now_ms, which); !sent) return sent;
    digests_.sent_ms = now_ms;
  }
  return store_.put_telling("", notify::to_json_text(digests_));
}

// Ids are times.
Result<bool> News::happened(std::int64_t since_ms) const {
  auto rows = store_.messages_after(since_ms, most_looked_at);
  if (!rows) return propagate(rows);
  for (const store::MessageRow& row : *rows) {
    if (row.kind != to_string(notify::Kind::digest) && row.kind != to_string(notify::Kind::test)) {
      return true;
    }
  }
  auto programs = store_.programs();
  if (!programs) return propagate(programs);
  for (const store::ProgramRow& program : *programs) {
    auto ends = store_.ends_since(program.name, since_ms);
    if (!ends) return propagate(ends);
    for (const auto& [cause, times] : *ends) {
      if (core::is_fault(core::cause_from(cause))) return true;
    }
  }
  return false;
}

Result<notify::ProgramFigures> News::figures_of(const json::object& row, std::int64_t from_ms,
                                                std::int64_t now_ms) const {
  notify::ProgramFigures figures;
  figures.row = row;
  const std::string name = string_or(row, "name", "");
  auto ends = store_.ends_since(name, from_ms);
  if (!ends) return propagate(ends);
  figures.ends = std::move(*ends);
  auto ledger =
      store_.ledger_json(name, std::max<std::int64_t>((now_ms - from_ms) / 1000, 1), now());
  if (!ledger) return propagate(ledger);
  figures.row["effective_share"] = number_or(*ledger, "total_seconds", 0) > 0
                                       ? json::value(number_or(*ledger, "effective_share", 0))
                                       : json::value();
  auto then = store_.step_at(name, from_ms);
  if (!then) return propagate(then);
  figures.step_then = *then;
  figures.step_now = int_or(row, "last_step", 0);
  if (*then) {
    auto loss = store_.loss_at(name, **then);
    if (!loss) return propagate(loss);
    figures.loss_then = *loss;
  }
  if (const auto loss = get_number(row, "loss")) figures.loss_now = *loss;
  auto held_out_then = store_.evaluation_before(name, from_ms);
  if (!held_out_then) return propagate(held_out_then);
  figures.held_out_then = *held_out_then;
  auto held_out_now = store_.evaluation_before(name, now_ms);
  if (!held_out_now) return propagate(held_out_now);
  figures.held_out_now = *held_out_now;
  return figures;
}

Result<std::vector<std::string>> News::boards_that_are_not_well(std::int64_t now_ms) const {
  std::vector<std::string> told;
  auto boards = store_.boards_json();
  if (!boards) return propagate(boards);
  for (const json::value& value : *boards) {
    if (!value.is_object()) continue;
    const json::object& board = value.get_object();
    const std::string serial = string_or(board, "serial", "");
    auto stored = store_.board_record(serial);
    if (!stored) return propagate(stored);
    core::BoardRecord record;
    if (auto parsed = stored->empty() ? Result<json::value>(json::value())
                                      : parse_json(*stored, "the record of board " + serial)) {
      record = core::board_record_from_json(*parsed);
    }
    if (core::quarantined(record, {now_ms})) {
      told.push_back(fmt::format("{}: in quarantine for {}: {}", serial,
                                 human_duration(record.quarantined_until_wall_ms.ms - now_ms),
                                 record.reason));
    } else if (const std::string verdict = string_or(board, "verdict", ""); verdict != "OK") {
      told.push_back(fmt::format("{}: {}: {}", serial, verdict, string_or(board, "reason", "")));
    }
  }
  return told;
}

Status News::send_digest(std::int64_t now_ms, notify::Digest which) {
  notify::DigestFigures figures;
  figures.from_ms = digests_.sent_ms;
  figures.until_ms = now_ms;
  figures.which = which;
  std::vector<std::int64_t> tells;
  auto held = store_.messages_held_until(now_ms + 1);
  if (!held) return propagate(held);
  for (const store::MessageRow& row : *held) {
    // Not what is held for a moment only.
    const std::int64_t after = row.not_before_ms - notify::after_digest_ms;
    const bool waits = row.not_before_ms - row.at_ms > around_.policy.hold_ms &&
                       notify::minute_of_day(after, around_.zone) == *around_.policy.digest;
    if (!waits) continue;
    figures.waited.push_back(row.title);
    tells.push_back(row.id);
  }
  auto rows = store_.status_json(now());
  if (!rows) return propagate(rows);
  for (const json::value& row : *rows) {
    if (!row.is_object()) continue;
    auto program = figures_of(row.get_object(), figures.from_ms, now_ms);
    if (!program) return propagate(program);
    figures.programs.push_back(std::move(*program));
  }
  auto boards = boards_that_are_not_well(now_ms);
  if (!boards) return propagate(boards);
  figures.boards = std::move(*boards);
  // What cannot be read is left out: the digest is what matters.
  if (auto given_up = courier::given_up_since(state_folder_, figures.from_ms)) {
    figures.given_up = std::move(*given_up);
  }
  notify::Message message = notify::worded(figures, around_.policy);
  message.id = new_id(now_ms);
  message.tells = std::move(tells);
  return write({{}, {std::move(message)}});
}

}  // namespace trainward::daemon
