#include "supervisor/courier/jobs/uploads/upload_job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "supervisor/courier/jobs/uploads/candidates.hpp"
#include "supervisor/courier/jobs/uploads/sender.hpp"
#include "supervisor/courier/jobs/uploads/upload_rows.hpp"
#include "supervisor/courier/upload/upload_policy.hpp"

namespace trainward::courier {
namespace {

using upload::Candidate;
using upload::Known;

constexpr std::int64_t listen_ms = 5'000;     // for what people ask for
constexpr const char* secret_key = "secret";  // the one that was used last, by its stamp

class UploadJob : public Job {
 public:
  explicit UploadJob(Sender sender) : sender_(std::move(sender)) {}

  [[nodiscard]] std::string name() const override { return sender_.name(); }

  [[nodiscard]] Trouble trouble() const override { return trouble_; }
  [[nodiscard]] bool owes() const override { return owes_; }

  Result<std::int64_t> work(const World& world) override {
    UploadRows rows = rows_in(world.journal);
    auto next = turn(world, rows);
    if (!next) return next;
    auto trouble = rows.trouble();
    if (!trouble) return propagate(trouble);
    trouble_ = std::move(*trouble);
    return next;
  }

  bool is_asked_for(Journal& journal) override {
    UploadRows rows = rows_in(journal);
    auto asked = rows.asked();
    if (asked && asked->last > last_asked_) return true;
    auto used = rows.get(secret_key);
    return used && *used && **used != sender_.secret();
  }

 private:
  UploadRows rows_in(Journal& journal) const {
    return {journal, sender_.source().program, sender_.target().name};
  }

  Result<std::int64_t> turn(const World& world, UploadRows& rows) {
    if (auto ok = rows.lies_at(orders::place_identity(sender_.target())); !ok) return propagate(ok);
    auto asked_for = rows.asked();
    if (!asked_for) return propagate(asked_for);
    last_asked_ = asked_for->last;
    if (auto ok = notice_secret(rows); !ok) return propagate(ok);
    if (auto ok = hurry(world, rows); !ok) return propagate(ok);
    if (auto ok = oblige(world, rows, *asked_for); !ok) return propagate(ok);
    const bool asked = asked_for->now;
    auto situation = situation_of(world, rows, asked);
    if (!situation) return propagate(situation);
    const upload::Decision decision = upload::decide(*situation);
    owes_ = decision.next || decision.waits;
    if (auto ok = check(world, rows); !ok) return propagate(ok);
    for (const std::string& name : decision.stale) {
      if (auto ok = sender_.give_up(world, rows, name); !ok) return propagate(ok);
    }
    const std::int64_t listen = world.now_ms + listen_ms;
    if (!decision.next) {
      if (asked) {
        if (auto ok = rows.seen(asked_for->last); !ok) return propagate(ok);
      }
      return std::min(decision.again_ms, listen);
    }
    const Candidate& what = *decision.next;
    const UploadRows::Begun begun{what, decision.held ? "held" : "sending", world.now_ms,
                                  decision.held ? decision.again_ms : 0, asked};
    if (auto ok = rows.begin(begun); !ok) return propagate(ok);
    if (asked) {
      if (auto ok = rows.seen(asked_for->last); !ok) return propagate(ok);
    }
    fault_point("upload.begun");
    if (decision.held) return std::min(decision.again_ms, listen);
    const auto known = std::find_if(
        situation->known.begin(), situation->known.end(),
        [&](const Known& one) { return one.name == what.name && one.step == what.step; });
    const Known before = known == situation->known.end() ? Known{} : *known;
    if (auto ok = sender_.send(world, rows, what, before, asked || before.asked); !ok) {
      return propagate(ok);
    }
    return now().wall.ms;
  }

  // Once it is to leave nothing waits for its next try.
  Status hurry(const World& world, UploadRows& rows) {
    if (!world.leaving || std::exchange(hurried_, true)) return {};
    return rows.retry();
  }

  // Whatever failed may have failed for the one that was there before.
  Status notice_secret(UploadRows& rows) {
    const std::string secret = sender_.secret();
    auto used = rows.get(secret_key);
    if (!used) return propagate(used);
    if (*used == secret) return {};
    if (*used) {
      checked_ = false;
      if (auto ok = rows.retry(); !ok) return ok;
    }
    return rows.put(secret_key, secret);
  }

  // Once a process, so that a key without rights is told now and not in the night.
  Status check(const World& world, UploadRows& rows) {
    if (checked_) return {};
    auto target = sender_.reach(rows, world.stop);
    if (!target) return propagate(target);
    if (auto ok = (*target)->check(); !ok) {
      ok.error().what =
          fmt::format("checkpoints of {} cannot go to '{}': {}", sender_.source().program,
                      sender_.target().name, ok.error().what);
      return ok;
    }
    checked_ = true;
    return {};
  }

  // What people ask for besides an upload.
  Status oblige(const World& world, UploadRows& rows, const UploadRows::Asked& asked) {
    if (!asked.retry && !asked.verify) return {};
    if (asked.retry) {
      if (auto ok = rows.retry(); !ok) return ok;
    }
    if (asked.verify) {
      if (auto ok = verify(world, rows); !ok) return ok;
    }
    return asked.now ? Status() : rows.seen(asked.last);
  }

  // What was sent last, where it lies now. That it cannot be looked at is on record as well.
  Status verify(const World& world, UploadRows& rows) {
    auto known = rows.known();
    if (!known) return propagate(known);
    const auto newest =
        std::max_element(known->begin(), known->end(), [](const Known& a, const Known& b) {
          return (a.state == "done" ? a.saved_ms : -1) < (b.state == "done" ? b.saved_ms : -1);
        });
    if (newest == known->end() || newest->state != "done") return {};
    auto found = compare(world, rows, *newest);
    if (!found) spdlog::warn("{}: {}", name(), found.error().message());
    return rows.checked(newest->name, newest->step, found ? "" : found.error().message(),
                        now().wall.ms);
  }

  Status compare(const World& world, UploadRows& rows, const Known& what) {
    auto target = sender_.reach(rows, world.stop);
    if (!target) return propagate(target);
    auto remotes = (*target)->list(sender_.source().program);
    if (!remotes) return propagate(remotes);
    for (const upload::Remote& remote : *remotes) {
      if (remote.name != what.name || remote.step != what.step) continue;
      return (*target)->verify(sender_.source().program, remote);
    }
    return fail(ErrorKind::corrupt, "is no longer there", what.name,
                "`trainwardctl upload now` sends the newest one");
  }

  Result<upload::Situation> situation_of(const World& world, UploadRows& rows, bool asked) const {
    upload::Situation out;
    auto known = rows.known();
    if (!known) return propagate(known);
    auto candidates = candidates_of(world.store, sender_.source());
    if (!candidates) return propagate(candidates);
    out.known = std::move(*known);
    out.candidates = std::move(*candidates);
    out.cadence = sender_.target().cadence;
    out.window = sender_.window();
    out.minute_of_day = minute_of_day(world.now_ms);
    out.now_ms = world.now_ms;
    out.asked = asked;
    out.leaving = world.leaving;
    out.has_tags = std::holds_alternative<orders::HubPlace>(sender_.target().place);
    return out;
  }

  Sender sender_;
  bool checked_ = false;
  bool hurried_ = false;
  bool owes_ = true;
  std::int64_t last_asked_ = 0;  // that a call has seen
  Trouble trouble_;
};

}  // namespace

std::unique_ptr<Job> make_upload_job(const orders::UploadOrder& order, const orders::Target& target,
                                     const net::Settings& network,
                                     const std::filesystem::path& state_dir) {
  return std::make_unique<UploadJob>(Sender(order, target, network, state_dir));
}

}  // namespace trainward::courier
