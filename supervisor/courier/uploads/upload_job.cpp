#include "supervisor/courier/uploads/upload_job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/json.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "supervisor/courier/uploads/upload_rows.hpp"
#include "supervisor/net/retry.hpp"
#include "supervisor/upload/file_digest.hpp"
#include "supervisor/upload/hub/form.hpp"
#include "supervisor/upload/make_target.hpp"
#include "supervisor/upload/package.hpp"
#include "supervisor/upload/policy.hpp"

namespace trainward::courier {
namespace {

using upload::Candidate;
using upload::Known;

constexpr std::int64_t listen_ms = 5'000;      // for what people ask for
constexpr std::int64_t note_every_ms = 2'000;  // progress
constexpr std::int64_t hour_ms = 3'600'000;    // until what was refused is tried again

int minute_of_day(std::int64_t wall_ms) {
  const std::time_t seconds = wall_ms / 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local.tm_hour * 60 + local.tm_min;
}

std::int64_t modified_ms(const struct stat& info) {
  return std::int64_t{info.st_mtim.tv_sec} * 1'000 + info.st_mtim.tv_nsec / 1'000'000;
}

// When a checkpoint was written, which is not the order in which several were verified. The time of
// a folder of ours changes when it is pinned.
std::int64_t saved_ms(const std::string& path, const struct stat& info) {
  struct stat manifest {};
  const bool ours =
      S_ISDIR(info.st_mode) && ::lstat((path + "/MANIFEST.json").c_str(), &manifest) == 0;
  return modified_ms(ours ? manifest : info);
}

// What is told of an upload that is under way, a row each two seconds, and its end when the window
// closes.
class Progress {
 public:
  Progress(UploadRows& rows, const Candidate& what, std::int64_t bytes)
      : rows_(rows), what_(what), bytes_(bytes), began_(now().mono) {}

  void tell(std::int64_t sent) {
    if (first_ < 0) first_ = sent;
    sent_ = sent;
    const MonoTime at = now().mono;
    if (at - noted_ < note_every_ms) return;
    noted_ = at;
    write(at);
  }

  void write(MonoTime at) {
    if (first_ < 0) return;
    const std::int64_t took = std::max<std::int64_t>(at - began_, 1);
    const std::int64_t speed = (sent_ - std::max<std::int64_t>(first_, 0)) * 1000 / took;
    if (auto ok = rows_.progress(what_, bytes_, sent_, speed); !ok) {
      spdlog::warn("the progress of an upload is not on record: {}", ok.error().message());
    }
  }

 private:
  UploadRows& rows_;
  const Candidate& what_;
  std::int64_t bytes_;
  MonoTime began_;
  MonoTime noted_ = {};
  std::int64_t first_ = -1;
  std::int64_t sent_ = 0;
};

class UploadJob : public Job {
 public:
  UploadJob(orders::UploadOrder order, orders::Target target, net::Settings network,
            std::filesystem::path state_dir)
      : order_(std::move(order)),
        target_(std::move(target)),
        network_(std::move(network)),
        state_dir_(std::move(state_dir)),
        backoff_(std::random_device{}()) {}

  [[nodiscard]] std::string name() const override {
    return fmt::format("upload {}/{}", order_.source.program, target_.name);
  }

  [[nodiscard]] Trouble trouble() const override { return trouble_; }

  Result<std::int64_t> work(const World& world) override {
    UploadRows rows(world.journal, order_.source.program, target_.name);
    auto next = turn(world, rows);
    if (!next) return next;
    auto trouble = rows.trouble();
    if (!trouble) return propagate(trouble);
    trouble_ = std::move(*trouble);
    return next;
  }

  bool is_asked_for(Journal& journal) override {
    auto asked = UploadRows(journal, order_.source.program, target_.name).asked();
    return asked && asked->last > last_asked_;
  }

 private:
  Result<std::int64_t> turn(const World& world, UploadRows& rows) {
    auto asked_for = rows.asked();
    if (!asked_for) return propagate(asked_for);
    last_asked_ = asked_for->last;
    if (auto ok = oblige(world, rows, *asked_for); !ok) return propagate(ok);
    if (auto ok = check(world, rows); !ok) return propagate(ok);
    const bool asked = asked_for->now;
    auto situation = situation_of(world, rows, asked);
    if (!situation) return propagate(situation);
    const upload::Decision decision = upload::decide(*situation);
    for (const std::string& name : decision.stale) {
      if (auto ok = give_up(world, rows, name); !ok) return propagate(ok);
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
    if (auto ok = send(world, rows, what, before, asked || before.asked); !ok) return propagate(ok);
    return now().wall.ms;
  }

  upload::TargetOptions options(std::stop_token stop) const {
    return {network_, std::move(stop), order_.upload.bytes_per_second};
  }

  // Once a process, so that a key without rights is told now and not in the night.
  Status check(const World& world, UploadRows& rows) {
    if (checked_) return {};
    auto target = upload::make_target(target_, rows, options(world.stop));
    if (!target) return propagate(target);
    if (auto ok = (*target)->check(); !ok) {
      ok.error().what = fmt::format("checkpoints of {} cannot go to '{}': {}",
                                    order_.source.program, target_.name, ok.error().what);
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
    auto target = upload::make_target(target_, rows, options(world.stop));
    if (!target) return propagate(target);
    auto remotes = (*target)->list(order_.source.program);
    if (!remotes) return propagate(remotes);
    for (const upload::Remote& remote : *remotes) {
      if (remote.name != what.name || remote.step != what.step) continue;
      return (*target)->verify(order_.source.program, remote);
    }
    return fail(ErrorKind::corrupt, "is not there any more", what.name,
                "`trainwardctl upload now` sends the newest one");
  }

  Result<upload::Situation> situation_of(const World& world, UploadRows& rows, bool asked) const {
    upload::Situation out;
    auto known = rows.known();
    if (!known) return propagate(known);
    auto candidates = candidates_of(world);
    if (!candidates) return propagate(candidates);
    out.known = std::move(*known);
    out.candidates = std::move(*candidates);
    out.cadence = target_.cadence;
    out.window = order_.upload.window;
    out.minute_of_day = minute_of_day(world.now_ms);
    out.now_ms = world.now_ms;
    out.asked = asked;
    return out;
  }

  // Verified, by the run database, and still there.
  Result<std::vector<Candidate>> candidates_of(const World& world) const {
    const std::string& program = order_.source.program;
    auto rows = world.store.checkpoints_json(program);
    if (!rows) return propagate(rows);
    auto row = world.store.program(program);
    if (!row) return propagate(row);
    const bool is_over = *row && (*row)->state == "EXITED";
    std::vector<Candidate> out;
    for (const json::value& value : *rows) {
      const json::object& one = value.as_object();
      if (string_or(one, "state", "") != "verified") continue;
      Candidate candidate;
      candidate.path = string_or(one, "path", "");
      candidate.step = int_or(one, "step", 0);
      candidate.name = upload::published_name(candidate.path, candidate.step);
      struct stat info {};
      if (::lstat(candidate.path.c_str(), &info) != 0) continue;
      candidate.at_ms = saved_ms(candidate.path, info);
      const std::int64_t every = order_.source.milestone_every;
      const bool pinned =
          S_ISDIR(info.st_mode) && ::lstat((candidate.path + "/PINNED").c_str(), &info) == 0;
      candidate.milestone = pinned || (every > 0 && candidate.step % every == 0);
      out.push_back(std::move(candidate));
    }
    if (is_over && !out.empty()) {
      std::max_element(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
        return a.at_ms < b.at_ms;
      })->last = true;
    }
    return out;
  }

  // What has arrived of it is taken back where the target answers; else at the next start.
  Status give_up(const World& world, UploadRows& rows, const std::string& name) {
    auto target = upload::make_target(target_, rows, options(world.stop));
    if (!target) return propagate(target);
    if (auto ok = (*target)->abandon(order_.source.program, name); !ok) return ok;
    return rows.stale(name, world.now_ms);
  }

  // As the target's readers want it.
  Status form(upload::OpenedPackage& opened, const Candidate& what, std::stop_token stop) const {
    const auto* place = std::get_if<orders::HubPlace>(&target_.place);
    if (place == nullptr) return {};
    upload::hub::FormOptions options;
    options.scratch =
        state_dir_ / "upload" / fmt::format("{}-{}", order_.source.program, target_.name);
    options.stop = std::move(stop);
    auto formed = upload::hub::in_form(std::move(opened.package), what.path, place->form, options);
    if (!formed) return propagate(formed);
    opened.package = std::move(*formed);
    return {};
  }

  Status send(const World& world, UploadRows& rows, const Candidate& what, const Known& before,
              bool whatever_hour) {
    std::stop_source stop;
    const std::stop_callback ended(world.stop, [&stop] { stop.request_stop(); });
    auto target = upload::make_target(target_, rows, options(stop.get_token()));
    if (!target) return propagate(target);
    auto opened =
        upload::open_package(order_.source, what, rows, stop.get_token(),
                             [&](std::int64_t size) { return (*target)->part_bytes(size); });
    if (!opened) return failed(world, rows, what, before, opened.error(), std::nullopt);
    fault_point("upload.opened");
    if (auto ok = form(*opened, what, stop.get_token()); !ok) {
      return failed(world, rows, what, before, ok.error(), std::nullopt);
    }
    std::int64_t bytes = 0;
    for (const upload::File& file : opened->package.files) bytes += file.size;
    if (auto ok = rows.progress(what, bytes, before.sent_bytes, 0); !ok) return ok;
    Progress progress(rows, what, bytes);
    bool closed = false;
    const upload::Progress tell = [&](std::int64_t sent) {
      progress.tell(sent);
      if (whatever_hour || closed) return;
      const std::int64_t at = now().wall.ms;
      closed = upload::until_open_ms(order_.upload.window, minute_of_day(at)) > 0;
      if (closed) stop.request_stop();
    };
    auto published = (*target)->publish(opened->package, tell);
    progress.write(now().mono);
    if (published) {
      fault_point("upload.committed");
      if (auto ok = rows.done(what, published->place, now().wall.ms); !ok) return ok;
      spdlog::info("{}: step {} is at {}", name(), what.step, published->place);
      return upload::forget_digests(rows);
    }
    if (world.stop.stop_requested()) return {};  // as the row has it, the next process goes on
    if (closed) {
      const std::int64_t at = now().wall.ms;
      const std::int64_t opens =
          at + upload::until_open_ms(order_.upload.window, minute_of_day(at));
      return rows.not_done(what, "held", "", 0, opens, 0);
    }
    return failed(world, rows, what, before, published.error(), (*target)->wait_ms());
  }

  Status failed(const World& world, UploadRows& rows, const Candidate& what, const Known& before,
                const Error& error, std::optional<std::int64_t> wait_ms) {
    if (world.stop.stop_requested()) return {};
    const std::int64_t at = now().wall.ms;
    struct stat info {};
    if (::lstat(what.path.c_str(), &info) != 0 && error.kind != ErrorKind::transient) {
      spdlog::info("{}: step {} was removed before it was sent", name(), what.step);
      return give_up(world, rows, what.name);
    }
    spdlog::warn("{}: step {}: {}", name(), what.step, error.message());
    if (error.kind == ErrorKind::corrupt) {
      // Whatever its bytes are now, they are to be looked at anew.
      if (auto ok = upload::forget_digests(rows); !ok) return ok;
    }
    if (error.kind == ErrorKind::transient) {
      const int tries = tries_after(rows, what, before) + 1;
      const std::int64_t pause = std::max(backoff_.pause_ms(tries), wait_ms.value_or(0));
      return rows.not_done(what, "waiting", error.message(), tries, at + pause, 0);
    }
    // Somebody has to do something; or its program wrote into it, and has it then finished.
    return rows.not_done(what, "failed", error.message(), before.tries + 1, at + hour_ms, at);
  }

  // None where bytes have arrived since: then the line works.
  static int tries_after(UploadRows& rows, const Candidate& what, const Known& before) {
    auto known = rows.known();
    if (!known) return before.tries;
    for (const Known& one : *known) {
      if (one.name == what.name && one.step == what.step) return one.tries;
    }
    return before.tries;
  }

  orders::UploadOrder order_;
  orders::Target target_;
  net::Settings network_;
  std::filesystem::path state_dir_;
  net::Backoff backoff_;
  bool checked_ = false;
  std::int64_t last_asked_ = 0;  // that a call has seen
  Trouble trouble_;
};

}  // namespace

std::unique_ptr<Job> make_upload_job(const orders::UploadOrder& order, const orders::Target& target,
                                     const net::Settings& network,
                                     const std::filesystem::path& state_dir) {
  return std::make_unique<UploadJob>(order, target, network, state_dir);
}

}  // namespace trainward::courier
